//! `loci reset`: removes everything that is stored, after a backup, and only when a person has said how much that is.

use crate::cli::store_admin::Reset;
use crate::client::call::Door;
use crate::output::{Problem, confirm_typed, say};
use loci_proto::error::Exit;
use loci_proto::requests::reset::{ResetReply, ResetRequest};
use std::io;
use std::process::ExitCode;

/// Asks, then removes.
///
/// # Errors
/// Without a terminal and without `--yes`; when what was typed is another number; no daemon.
pub async fn run(asked: Reset) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let planned: ResetReply = door.call("reset", &ResetRequest { dry_run: true }).await?;
    let question = format!(
        "This removes {} memories and what belongs to them; a backup is made first.",
        planned.memories
    );
    confirm_typed(&question, &planned.memories.to_string(), asked.yes.into())?;
    let answer = door.begin("/long/reset", &ResetRequest { dry_run: false }).await?.whole().await?;
    let reply: ResetReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if asked.json {
        say(String::from_utf8_lossy(&answer))?;
    } else {
        say(format!(
            "{} memories were removed. They are kept in {}",
            reply.memories,
            reply.backup.unwrap_or_default()
        ))?;
    }
    Ok(Exit::Ok.into())
}
