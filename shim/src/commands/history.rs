//! `loci history`: lists the acts that can be undone, newest first.

use crate::cli::memories::History;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date_time, print_json};
use crate::output::{Problem, Screen, escape_line, print_line, table};
use loci_proto::requests::history::{HistoryReply, HistoryRequest, JournalEntry, StoredMemory};

/// What precedes a text below the row of its act.
const INDENT: &str = "       ";

/// Prints one page of acts.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: History) -> Result<(), Problem> {
    let memory_id = match &args.id {
        Some(id_part) => {
            Some(memory_id::resolve(client, id_part, args.project.group.as_ref()).await?.id)
        }
        None => None,
    };
    let request = HistoryRequest {
        memory_id,
        session: args.session,
        before: args.before,
        limit: Some(args.limit.into()),
    };
    let raw_reply = client.call_raw("history", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: HistoryReply = raw_reply.parse()?;
    if reply.acts.is_empty() && reply.stored.is_empty() {
        return print_line("There is nothing to undo.");
    }
    if !reply.stored.is_empty() {
        print_line(stored_table(&reply.stored))?;
    }
    if !reply.acts.is_empty() {
        print_line(acts_table(&reply.acts).trim_end())?;
    }
    reply.next.map_or(Ok(()), |next| print_line(format!("\nNext page: --before {next}")))
}

/// Formats the memories that a session stored as a table.
#[must_use]
pub fn stored_table(memories: &[StoredMemory]) -> String {
    let row = |memory: &StoredMemory| {
        [
            memory_id::short(memory.id.as_str()),
            date_time(&memory.at),
            memory.kind.to_string(),
            escape_line(&memory.status),
            escape_line(&memory.preview),
        ]
    };
    let heading = ["STORED", "WHEN", "TYPE", "STATUS", "MEMORY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(memories.iter().map(row)).collect();
    table(&rows)
}

/// Returns the texts that an act changed: `before -> after` for a changed text.
fn changed_texts(act: &JournalEntry) -> impl Iterator<Item = String> + '_ {
    act.changed.iter().map(|changed| {
        let before = changed.before.as_deref().map(|text| format!("{} -> ", escape_line(text)));
        before.unwrap_or_default() + &escape_line(&changed.preview)
    })
}

/// Formats acts as a table, with the texts that each act changed below its row.
#[must_use]
pub fn acts_table(acts: &[JournalEntry]) -> String {
    let row = |act: &JournalEntry| {
        let undone = act.undone_at.as_deref().map_or(String::new(), date_time);
        let client = escape_line(act.client.as_deref().unwrap_or("-"));
        [
            act.id.to_string(),
            date_time(&act.at),
            escape_line(&act.act),
            act.rows.to_string(),
            client,
            undone,
        ]
    };
    let heading = ["ACT", "WHEN", "WHAT", "ROWS", "WHO", "UNDONE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(acts.iter().map(row)).collect();
    let (screen, table) = (Screen::of_stdout(), table(&rows));
    let mut lines = table.lines();
    let mut text = lines.next().map_or(String::new(), |heading| format!("{heading}\n"));
    for (line, act) in lines.zip(acts) {
        text.push_str(line);
        text.push('\n');
        for changed in changed_texts(act) {
            text.push_str(&screen.cut(&format!("{INDENT}{changed}")));
            text.push('\n');
        }
    }
    text
}
