//! `loci review --categories`: asks of each memory without a category which one it has; one key sets it.
//!
//! Without a terminal, or with `--list` or `--json`, it lists them.

use crate::cli::versions::Review;
use crate::client::call::VerbClient;
use crate::commands::input::argument;
use crate::commands::list::{TEXT_CHARS, memory_rows, row};
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{MemoryRow, Problem, choose, print_line};
use loci_proto::memory::{Category, Scope, Unasked};
use loci_proto::requests::edit::EditRequest;
use loci_proto::requests::list::{ListReply, ListRequest};
use std::io::{self, IsTerminal};

/// The question about a memory.
const QUESTION: &str = "[r]ule for all projects or [h]ere, [p]reference, [d]ecision, proced[u]re, fi[x], [f]act, [s]tate, [e]vent; \
     unasked [n]ever or [a]lways; [q]uit; Enter skips:";

/// What to do with a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Category(Category),
    RuleHere,
    Unasked(Unasked),
    Skip,
    Quit,
}

/// Lists the memories without a category, or asks about each.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub async fn run(client: &VerbClient, args: Review) -> Result<(), Problem> {
    let request = ListRequest {
        uncategorised: true,
        limit: Some(args.limit.into()),
        group: args.project.group,
        from_group: true,
        text_chars: (!args.format.json).then_some(TEXT_CHARS),
        ..ListRequest::default()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ListReply = raw_reply.parse()?;
    if reply.memories.is_empty() {
        return print_line("Every memory of this project has a category");
    }
    if args.list || !io::stdin().is_terminal() {
        let rows: Vec<MemoryRow> = reply.memories.iter().map(|memory| row(memory, false)).collect();
        print_line(memory_rows().text(&rows).trim_end())?;
        return print_line(format!("{} of {}", reply.memories.len(), reply.total));
    }
    for (at, memory) in reply.memories.iter().enumerate() {
        print_line(format!("{} of {}", at + 1, reply.memories.len()))?;
        print_line(memory_rows().text(&[row(memory, false)]).trim_end())?;
        let group = memory.group.as_ref().map(|name| argument("group", name.parse()));
        let edit = EditRequest { group: group.transpose()?, ..EditRequest::new(memory.id.clone()) };
        match choose(QUESTION, parse)?.unwrap_or(Decision::Quit) {
            Decision::Quit => break,
            Decision::Skip => {}
            Decision::Category(category) => {
                let change = EditRequest { category: Some(category), ..edit };
                apply(client, change).await?;
            }
            Decision::RuleHere => {
                let (category, scope) = (Some(Category::Rule), Some(Scope::Group));
                apply(client, EditRequest { category, scope, ..edit }).await?;
            }
            Decision::Unasked(unasked) => {
                apply(client, EditRequest { unasked: Some(unasked), ..edit }).await?;
            }
        }
    }
    Ok(())
}

fn parse(typed: &str) -> Option<Decision> {
    let category = match typed.to_lowercase().as_str() {
        "" => return Some(Decision::Skip),
        "q" => return Some(Decision::Quit),
        "h" => return Some(Decision::RuleHere),
        "n" => return Some(Decision::Unasked(Unasked::Never)),
        "a" => return Some(Decision::Unasked(Unasked::Always)),
        "r" => Category::Rule,
        "p" => Category::Preference,
        "d" => Category::Decision,
        "u" => Category::Procedure,
        "x" => Category::Fix,
        "f" => Category::Fact,
        "s" => Category::State,
        "e" => Category::Event,
        _ => return None,
    };
    Some(Decision::Category(category))
}

async fn apply(client: &VerbClient, request: EditRequest) -> Result<(), Problem> {
    let reply = client.call(&request).await?;
    print_line(format!("Set{}", undo_hint(reply.act)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_key_that_the_question_names() {
        for category in Category::ALL {
            let key = ('a'..='z')
                .find(|key| parse(&key.to_string()) == Some(Decision::Category(*category)));
            let key = key.expect("the category has a key");
            assert!(QUESTION.contains(&format!("[{key}]")), "{key}");
        }
        assert_eq!((parse("z"), parse("rule")), (None, None));
    }
}
