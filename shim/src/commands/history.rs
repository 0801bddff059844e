//! `loci history`: acts that can be undone, newest first.

use crate::cli::memories::History;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{moment, print};
use crate::output::{Problem, plain, say, table};
use loci_proto::requests::history::{HistoryReply, HistoryRequest, JournalEntry};

/// Asks, and prints the page.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: History) -> Result<(), Problem> {
    let memory_id = match &asked.id {
        Some(part) => Some(memory_id::find(door, part, asked.project.group.as_ref()).await?.id),
        None => None,
    };
    let request =
        HistoryRequest { memory_id, before: asked.before, limit: Some(asked.limit.into()) };
    let answer = door.reply("history", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: HistoryReply = answer.read()?;
    if reply.acts.is_empty() {
        return say("Nothing that could be undone has happened.");
    }
    say(acts(&reply.acts).trim_end())?;
    reply.next.map_or(Ok(()), |next| say(format!("\nthe next page: --before {next}")))
}

/// Acts as a table.
#[must_use]
pub fn acts(acts: &[JournalEntry]) -> String {
    let row = |act: &JournalEntry| {
        let undone = act.undone_at.as_deref().map_or(String::new(), moment);
        let who = plain(act.client.as_deref().unwrap_or("-"));
        [act.id.to_string(), moment(&act.at), plain(&act.act), act.rows.to_string(), who, undone]
    };
    let head = ["ACT", "WHEN", "WHAT", "ROWS", "WHO", "UNDONE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(acts.iter().map(row)).collect();
    table(&rows)
}
