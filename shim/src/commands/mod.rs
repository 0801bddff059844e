//! The commands about memories: one file a command. Each asks the daemon, and prints a table or a sentence, or with `--json` the reply.
//!
//! Not here: what a verb means (the engine), how the daemon is reached (`client::verbs`).

mod add;
pub mod config;
pub mod ctl;
pub mod demo;
pub mod doctor;
mod edit;
pub mod eval;
mod forget;
pub mod groups;
mod history;
pub mod input;
mod inspect;
pub mod lifecycle;
mod list;
pub mod mcp;
pub mod model;
pub mod pages;
mod pin;
mod relate;
pub mod reset;
mod restore;
mod search;
mod stats;
pub mod transfer;
mod undo;

use crate::cli::Command;
use crate::client::call::{Answer, Door};
use crate::output::{Problem, note, plain, say};
use loci_proto::error::Exit;
use loci_proto::requests::list::ListedMemory;
use std::process::ExitCode;

/// Does what was asked.
///
/// # Errors
/// With the exit code that belongs to it.
pub async fn run(command: Command) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    door.session().warnings.iter().for_each(|warning| note("Warning:", warning));
    match command {
        Command::Search(asked) => search::run(&door, asked).await?,
        Command::List(asked) => list::run(&door, asked).await?,
        Command::Inspect(asked) => inspect::run(&door, asked).await?,
        Command::Add(asked) => add::run(&door, asked).await?,
        Command::Edit(asked) => edit::run(&door, asked).await?,
        Command::Pin(asked) => pin::run(&door, asked).await?,
        Command::Forget(asked) => forget::run(&door, asked).await?,
        Command::Restore(asked) => restore::run(&door, asked).await?,
        Command::Relate(asked) => relate::run(&door, asked).await?,
        Command::Stats(asked) => stats::run(&door, asked).await?,
        Command::History(asked) => history::run(&door, asked).await?,
        Command::Undo(asked) => undo::run(&door, asked).await?,
        other => return Err(Problem::new(format!("{other:?} is no command about memories"))),
    }
    Ok(Exit::Ok.into())
}

/// Prints a reply as it came.
fn print(answer: &Answer) -> Result<(), Problem> {
    say(answer.as_str())
}

/// A memory in one line: the end of its id and how it begins.
fn line(memory: &ListedMemory) -> String {
    format!(
        "{}  {}",
        crate::commands::input::memory_id::short(memory.id.as_str()),
        plain(&memory.preview)
    )
}

/// How to take an act back, as a second line; nothing where nothing was written down.
fn undoable(act: Option<i64>) -> String {
    act.map(|act| format!("\n  undo it: loci undo {act}")).unwrap_or_default()
}

/// The date of a moment.
fn date(moment: &str) -> String {
    plain(moment.get(..10).unwrap_or(moment))
}

/// A moment to the second, for people: `2026-11-22 09:30:00`.
fn moment(moment: &str) -> String {
    plain(&moment.get(..19).unwrap_or(moment).replace('T', " "))
}
