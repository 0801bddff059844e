//! `loci review --candidates`: asks about each memory that was taken from a transcript: accept, edit, reject or skip it.
//!
//! Without a terminal, or with `--list` or `--json`, it lists them.

use crate::cli::versions::Review;
use crate::client::call::VerbClient;
use crate::commands::input::editor;
use crate::commands::list::{TEXT_CHARS, memory_rows, row};
use crate::commands::reply_text::{date, print_json, undo_hint};
use crate::output::{
    MemoryRow, Problem, Screen, choose, escape_line, escape_lines, print_line, wrap,
};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest};
use loci_proto::requests::edit::EditRequest;
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::inspect::{InspectReply, InspectRequest, MemoryDetails};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

/// The question about a candidate.
const QUESTION: &str = "[a]ccept, [e]dit and accept, [r]eject, [q]uit; Enter skips:";

/// What to do with a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Accept,
    Edit,
    Reject,
    Skip,
    Quit,
}

/// Memories of one look at the candidates of all projects.
const MAX_COUNTED: usize = 1000;

/// Lists the candidates, or asks about each.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub async fn run(client: &VerbClient, args: Review) -> Result<(), Problem> {
    let group = args.project.group;
    let request = ListRequest {
        limit: Some(args.limit.into()),
        group: group.clone(),
        from_group: !args.all_groups,
        all_groups: args.all_groups,
        text_chars: (!args.format.json).then_some(TEXT_CHARS),
        ..all_candidates()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ListReply = raw_reply.parse()?;
    if reply.memories.is_empty() {
        print_line("No candidate to review")?;
    } else if args.list || !io::stdin().is_terminal() {
        let rows: Vec<MemoryRow> = reply.memories.iter().map(|memory| row(memory, false)).collect();
        print_line(memory_rows().text(&rows).trim_end())?;
        print_line(format!("{} of {}", reply.memories.len(), counted(reply.total)))?;
    } else {
        ask_about_all(client, &reply, (group.as_ref(), args.all_groups)).await?;
    }
    if args.all_groups {
        return Ok(());
    }
    print_elsewhere(client, &reply).await
}

/// The request for the candidates of this project, the oldest first.
fn all_candidates() -> ListRequest {
    ListRequest {
        status: Some("candidate".to_owned()),
        sort: ListOrder::Oldest,
        ..ListRequest::default()
    }
}

fn counted(count: usize) -> String {
    format!("{count} {}", if count == 1 { "candidate" } else { "candidates" })
}

/// Says which other projects have candidates.
async fn print_elsewhere(client: &VerbClient, here: &ListReply) -> Result<(), Problem> {
    let request = ListRequest { all_groups: true, limit: Some(MAX_COUNTED), ..all_candidates() };
    let all: ListReply = client.call(&request).await?;
    let elsewhere = all.total.saturating_sub(here.total);
    if elsewhere == 0 {
        return Ok(());
    }
    let own: Option<&str> = here.memories.first().and_then(|memory| memory.group.as_deref());
    let mut projects: BTreeMap<String, usize> = BTreeMap::new();
    for memory in &all.memories {
        let project = memory.group.as_deref().filter(|project| Some(*project) != own);
        if let Some(project) = project {
            *projects.entry(escape_line(project)).or_default() += 1;
        }
    }
    let named: Vec<String> =
        projects.iter().map(|(project, count)| format!("{project} {count}")).collect();
    let text = format!("{} in other projects ({}):", counted(elsewhere), named.join(", "));
    print_line(wrapped(&text, ""))?;
    print_line("  loci review --candidates --all-groups, or --group NAME")
}

/// Asks about each candidate until the person quits, and says what was done.
async fn ask_about_all(
    client: &VerbClient,
    reply: &ListReply,
    (group, all_groups): (Option<&GroupName>, bool),
) -> Result<(), Problem> {
    let count = reply.memories.len();
    let (mut accepted, mut rejected) = (0, 0);
    for (at, memory) in reply.memories.iter().enumerate() {
        // A project is found by its name where the candidate is not of the person's own.
        let own = memory.group.as_deref().filter(|_| all_groups).and_then(|name| name.parse().ok());
        let group = own.as_ref().or(group);
        print_line(format!("{} of {count}", at + 1))?;
        match ask_about(client, &memory.id, group).await? {
            Decision::Accept | Decision::Edit => accepted += 1,
            Decision::Reject => rejected += 1,
            Decision::Skip => {}
            Decision::Quit => break,
        }
    }
    let left = reply.total - accepted - rejected;
    print_line(format!("{accepted} accepted, {rejected} rejected, {left} left"))
}

/// Shows a candidate with its source, asks, and does what is answered. Returns what was done.
async fn ask_about(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<Decision, Problem> {
    let request = InspectRequest {
        memory_id: id.clone(),
        include_relations: None,
        include_log: false,
        log_before: None,
        relations_before: None,
        group: group.cloned(),
        as_of: None,
    };
    let reply: InspectReply = client.call(&request).await?;
    print_line(candidate_text(&reply.memory))?;
    loop {
        let decision = choose(QUESTION, parse)?.unwrap_or(Decision::Quit);
        match decision {
            Decision::Accept => accept(client, id, group).await?,
            Decision::Edit => {
                let Some(text) = editor::edit(&reply.memory.content)? else {
                    print_line("The text is unchanged, and not accepted yet")?;
                    continue;
                };
                let request = EditRequest {
                    content: Some(text),
                    group: group.cloned(),
                    ..EditRequest::new(id.clone())
                };
                client.call(&request).await?;
                accept(client, id, group).await?;
            }
            Decision::Reject => forget(client, id, group).await?,
            Decision::Skip | Decision::Quit => {}
        }
        return Ok(decision);
    }
}

/// Forgets a memory that the person has looked at.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub(super) async fn forget(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let request = ForgetRequest { group: group.cloned(), ..ForgetRequest::new(id.clone()) };
    let reply: ForgetReply = client.call(&request).await?;
    print_line(format!("Forgotten{}", undo_hint(reply.act)))
}

fn candidate_text(memory: &MemoryDetails) -> String {
    let source = memory.metadata.get("history").unwrap_or(&Value::Null);
    let field = |name: &str| source[name].as_str().map(escape_line).unwrap_or_default();
    let line = source["line"].as_u64().map_or(String::new(), |line| format!(":{line}"));
    let project = memory.group.as_deref().map(escape_line).unwrap_or_default();
    let heading = format!(
        "{} {} ({project}, {}, {}{line})",
        memory.kind,
        date(&memory.created_at),
        field("client"),
        field("file"),
    );
    let why = memory.metadata.get("rejected").and_then(Value::as_str);
    let why = why.map_or(String::new(), |why| {
        format!("\nAn attempt that was given up: {}", escape_line(why))
    });
    let text = escape_lines(&memory.content) + &why;
    format!("{}\n{}", wrapped(&heading, ""), wrapped(&text, "  "))
}

/// Wraps a text at words; each line begins with `indent`.
pub(super) fn wrapped(text: &str, indent: &str) -> String {
    let width = Screen::of_stdout().width.saturating_sub(indent.len());
    let lines = wrap(text, width).into_iter().map(|range| format!("{indent}{}", &text[range]));
    lines.collect::<Vec<_>>().join("\n")
}

/// Confirms a memory that the person has looked at.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub(super) async fn accept(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let request = ConfirmRequest {
        memory_id: Some(id.clone()),
        group: group.cloned(),
        ..ConfirmRequest::default()
    };
    let reply: ConfirmReply = client.call(&request).await?;
    print_line(format!("Accepted{}", undo_hint(reply.act)))
}

fn parse(typed: &str) -> Option<Decision> {
    match typed.to_lowercase().as_str() {
        "" => Some(Decision::Skip),
        "a" => Some(Decision::Accept),
        "e" => Some(Decision::Edit),
        "r" => Some(Decision::Reject),
        "q" => Some(Decision::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_letter_decides() {
        assert_eq!((parse("A"), parse("")), (Some(Decision::Accept), Some(Decision::Skip)));
        assert_eq!((parse("y"), parse("accept")), (None, None));
    }
}
