//! `loci review --candidates`: asks about each memory that was taken from a transcript: accept, edit, reject or skip it.
//!
//! Without a terminal, or with `--list` or `--json`, it lists them.

use crate::cli::versions::Review;
use crate::client::call::VerbClient;
use crate::commands::list::{memory_rows, row};
use crate::commands::reply_text::{date, print_json, undo_hint};
use crate::output::{MemoryRow, Problem, choose, escape_line, escape_lines, print_line};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest};
use loci_proto::requests::edit::ChangedReply;
use loci_proto::requests::forget::ForgetReply;
use loci_proto::requests::inspect::{InspectReply, MemoryDetails};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest};
use serde_json::{Value, json};
use std::io::{self, BufRead, IsTerminal, Write};

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

/// Lists the candidates, or asks about each.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub async fn run(client: &VerbClient, args: Review) -> Result<(), Problem> {
    let group = args.project.group;
    let request = ListRequest {
        status: Some("candidate".to_owned()),
        limit: Some(args.limit.into()),
        sort: ListOrder::Oldest,
        group: group.clone(),
        ..ListRequest::default()
    };
    let raw_reply = client.call_raw("list", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ListReply = raw_reply.parse()?;
    if reply.memories.is_empty() {
        return print_line("No candidate to review");
    }
    if args.list || !io::stdin().is_terminal() {
        let rows: Vec<MemoryRow> = reply.memories.iter().map(|memory| row(memory, false)).collect();
        print_line(memory_rows().text(&rows).trim_end())?;
    } else {
        for memory in &reply.memories {
            if ask_about(client, &memory.id, group.as_ref()).await? == Decision::Quit {
                break;
            }
        }
    }
    let candidates = if reply.total == 1 { "candidate" } else { "candidates" };
    print_line(format!("{} of {} {candidates}", reply.memories.len(), reply.total))
}

/// Shows a candidate with its source, asks, and does what is answered.
async fn ask_about(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<Decision, Problem> {
    let request = json!({"memory_id": id, "group": group});
    let reply: InspectReply = client.call("memory_inspect", &request).await?;
    print_line(candidate_text(&reply.memory))?;
    let decision = choose(QUESTION, parse)?.unwrap_or(Decision::Quit);
    match decision {
        Decision::Accept => accept(client, id, group).await?,
        Decision::Edit => {
            let text = type_text()?;
            if text.is_empty() {
                print_line("Left as it is")?;
            } else {
                let request = json!({"memory_id": id, "content": text, "group": group});
                client.call::<ChangedReply>("edit", &request).await?;
                accept(client, id, group).await?;
            }
        }
        Decision::Reject => forget(client, id, group).await?,
        Decision::Skip | Decision::Quit => {}
    }
    Ok(decision)
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
    let request = json!({"memory_id": id, "group": group});
    let reply: ForgetReply = client.call("forget_memory", &request).await?;
    print_line(format!("Forgotten{}", undo_hint(reply.act)))
}

fn candidate_text(memory: &MemoryDetails) -> String {
    let source = memory.metadata.get("history").unwrap_or(&Value::Null);
    let field = |name: &str| source[name].as_str().map(escape_line).unwrap_or_default();
    let line = source["line"].as_u64().map_or(String::new(), |line| format!(":{line}"));
    let project = memory.group.as_deref().map(escape_line).unwrap_or_default();
    let lines: Vec<String> =
        escape_lines(&memory.content).lines().map(|line| format!("  {line}")).collect();
    format!(
        "{} {} ({project}, {}, {}{line})\n{}",
        memory.kind,
        date(&memory.created_at),
        field("client"),
        field("file"),
        lines.join("\n")
    )
}

async fn accept(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let request = ConfirmRequest {
        memory_id: Some(id.clone()),
        group: group.cloned(),
        ..ConfirmRequest::default()
    };
    let reply: ConfirmReply = client.call("confirm", &request).await?;
    print_line(format!("Accepted{}", undo_hint(reply.act)))
}

fn type_text() -> Result<String, Problem> {
    write!(io::stderr(), "New text (Enter leaves it): ")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim().to_owned())
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
