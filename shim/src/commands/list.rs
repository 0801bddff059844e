//! `loci list`: memories, newest first, a page at a time.

use crate::cli::memories::List;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{date, print};
use crate::output::{Problem, Screen, note, plain, say, table_on};
use loci_proto::requests::list::{ListReply, ListRequest, ListedMemory};

/// Which columns a table of memories has beside the usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The project: of interest where there are several.
    pub group: bool,
    /// The status: of interest where it is not the usual one.
    pub status: bool,
}

/// Asks, and prints the page.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: List) -> Result<(), Problem> {
    let named = asked.group.is_some();
    let request = ListRequest {
        kind: asked.kind,
        scope: asked.scope,
        status: asked.status,
        from_group: asked.group.is_some(),
        group: asked.group,
        all_groups: asked.all_groups,
        text: asked.text,
        older_than_seconds: asked.older,
        confidence_below: None,
        before: asked.before,
        limit: Some(asked.limit.into()),
    };
    let answer = door.reply("list", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: ListReply = answer.read()?;
    if reply.memories.is_empty() {
        say("No memory fits.")?;
        if named && reply.total == 0 {
            note(
                "Hint:",
                "`loci groups list` shows the projects with their ids; of another project only the id and its aliases count",
            );
        }
        return Ok(());
    }
    let unusual = |memory: &ListedMemory| memory.status != "active" || memory.pinned;
    let columns = Columns { group: asked.all_groups, status: reply.memories.iter().any(unusual) };
    say(rows(Screen::of_stdout(), columns, &reply.memories).trim_end())?;
    say(footer(&reply))
}

fn footer(reply: &ListReply) -> String {
    match (reply.memories.len(), reply.total, reply.next) {
        (shown, total, Some(next)) => {
            format!("\n{shown} of {total} memories; the next page: --before {next}")
        }
        (1, 1, None) => "\n1 memory".to_owned(),
        (shown, total, None) if shown < total => format!("\n{shown} of {total} memories"),
        (shown, ..) => format!("\n{shown} memories"),
    }
}

/// Memories as a table.
#[must_use]
pub fn rows(screen: Screen, columns: Columns, memories: &[ListedMemory]) -> String {
    let row = |memory: &ListedMemory| {
        let mut row = vec![
            memory_id::short(memory.id.as_str()),
            memory.kind.to_string(),
            format!("{:.2}", memory.confidence.get()),
        ];
        if columns.status {
            row.push(if memory.pinned && memory.status == "active" {
                "pinned".to_owned()
            } else {
                plain(&memory.status)
            });
        }
        if columns.group {
            row.push(plain(memory.group.as_deref().unwrap_or("-")));
        }
        row.extend([date(&memory.created_at), plain(&memory.preview)]);
        row
    };
    let mut head = vec!["ID", "TYPE", "CONF"];
    head.extend(columns.status.then_some("STATUS"));
    head.extend(columns.group.then_some("PROJECT"));
    head.extend(["CREATED", "MEMORY"]);
    let head = head.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(memories.iter().map(row)).collect();
    table_on(screen, &rows)
}
