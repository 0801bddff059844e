//! `loci reset`: removes everything that is stored, after a backup, and only when a person has said how much that is.

use crate::cli::keeping::Reset;
use crate::client::verbs::Door;
use crate::output::{Problem, say};
use loci_proto::error::Exit;
use loci_proto::keeping::{ResetReply, ResetRequest};
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

/// Asks, then removes.
///
/// # Errors
/// Without a terminal and without `--yes`; when what was typed is another number; no daemon.
pub async fn run(asked: Reset) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let planned: ResetReply = door.call("reset", &ResetRequest { dry_run: true }).await?;
    if !asked.yes {
        confirm(planned.memories)?;
    }
    let answer = door.begin("/long/reset", &ResetRequest { dry_run: false }).await?.whole().await?;
    let reply: ResetReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if asked.json {
        say(String::from_utf8_lossy(&answer))?;
    } else {
        say(format!("{} memories were removed. They are kept in {}", reply.memories, reply.backup.unwrap_or_default()))?;
    }
    Ok(Exit::Ok.into())
}

fn confirm(memories: usize) -> Result<(), Problem> {
    if !io::stdin().is_terminal() {
        return Err(Problem::new("Nobody can be asked here").hint("Add --yes to remove everything without a question"));
    }
    let mut stderr = io::stderr();
    write!(stderr, "This removes {memories} memories and what belongs to them; a backup is made first.\nType {memories} to go on: ")?;
    stderr.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if typed.trim() == memories.to_string() { Ok(()) } else { Err(Problem::new("Nothing was removed")) }
}
