//! `loci review`: asks what to do with each pair of memories that look like two versions of one fact.
//!
//! Without a terminal, or with `--list` or `--json`, it lists the pairs. Not here: how pairs are found (the engine).

use crate::cli::versions::Review;
use crate::client::call::VerbClient;
use crate::commands::candidates::{self, forget};
use crate::commands::categories;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::commands::row_details::RowDetails;
use crate::commands::wishes;
use crate::output::{Problem, Rows, Screen, choose, counted, escape_line, print_line};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::list::{ListReply, ListRequest};
use loci_proto::requests::review::{ReviewPair, ReviewReply, ReviewRequest, ReviewedMemory};
use loci_proto::requests::supersede::{SupersedeReply, SupersedeRequest};
use std::collections::HashSet;
use std::io::{self, IsTerminal};

/// The question about a pair.
const QUESTION: &str =
    "[k]eep both, [s]upersede the older, forget [o]lder or ne[w]er, [q]uit; Enter skips:";

/// What to do with a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    KeepBoth,
    Supersede,
    ForgetOlder,
    ForgetNewer,
    Skip,
    Quit,
}

/// Finds the memories of a pair by parts of their ids.
async fn resolve(
    client: &VerbClient,
    parts: Option<&[String]>,
    group: Option<&GroupName>,
) -> Result<Option<Vec<MemoryId>>, Problem> {
    let Some(parts) = parts else { return Ok(None) };
    let mut ids = Vec::with_capacity(parts.len());
    for part in parts {
        ids.push(memory_id::resolve(client, part, group).await?.id);
    }
    Ok(Some(ids))
}

/// Lists the pairs, or asks about each.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub async fn run(client: &VerbClient, args: Review) -> Result<(), Problem> {
    if args.candidates {
        return candidates::run(client, args).await;
    }
    if args.categories {
        return categories::run(client, args).await;
    }
    let group = args.project.group;
    let keep = resolve(client, args.keep.as_deref(), group.as_ref()).await?;
    let unkeep = resolve(client, args.unkeep.as_deref(), group.as_ref()).await?;
    let decline = resolve(client, args.decline.as_deref(), group.as_ref()).await?;
    let (keeps, unkeeps) = (keep.is_some(), unkeep.is_some());
    let request = ReviewRequest {
        limit: Some(args.limit.into()),
        before: args.before,
        all: args.all,
        keep,
        unkeep,
        decline,
        kind: None,
        group: group.clone(),
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ReviewReply = raw_reply.parse()?;
    if keeps {
        return print_line("Both are kept; the pair is not listed again");
    }
    if unkeeps {
        return print_line(if reply.unkept {
            "The pair is listed again"
        } else {
            "Both were not kept; nothing has changed"
        });
    }
    if let Some(count) = reply.declined {
        return print_line(match count {
            0 => "No agent asks for anything there; nothing has changed".to_owned(),
            count => format!("{} declined", counted(count, "wish", "wishes")),
        });
    }
    let asks = !args.list && io::stdin().is_terminal();
    if !wishes::run(client, &reply.wished, asks).await? {
        return Ok(());
    }
    print_held_back(client).await?;
    if reply.pairs.is_empty() {
        return print_line(format!("No pair to review{}", next_page(&reply)));
    }
    let both = reply.pairs.iter().flat_map(|pair| [&pair.newer.id, &pair.older.id]);
    let details = RowDetails::fetch(client, both).await?;
    if asks {
        ask_about_all(client, (&reply.pairs, &details), group.as_ref()).await?;
    } else {
        reply.pairs.iter().try_for_each(|pair| print_line(pair_text(pair, &details)))?;
    }
    let pairs = if reply.pairs.len() == 1 { "pair" } else { "pairs" };
    print_line(format!("{} {pairs}{}", reply.pairs.len(), next_page(&reply)))
}

/// Says how many memories of all projects are held back, and how to see them.
async fn print_held_back(client: &VerbClient) -> Result<(), Problem> {
    let request =
        ListRequest { held: true, all_groups: true, limit: Some(1), ..ListRequest::default() };
    let reply: ListReply = client.call(&request).await?;
    let count = counted(reply.total, "memory waits", "memories wait");
    let hint = format!("{count} for you: loci list --held --all-groups, then loci confirm ID");
    if reply.total == 0 { Ok(()) } else { print_line(hint) }
}

fn next_page(reply: &ReviewReply) -> String {
    reply.next.map_or(String::new(), |next| format!("; next page: --before {next}"))
}

fn pair_text(pair: &ReviewPair, details: &RowDetails) -> String {
    let row = |name: &str, memory: &ReviewedMemory| {
        let mut row = details.row(&memory.id, &memory.preview);
        row.at = Some(memory.created_at.clone());
        row.marks.insert(0, name.to_owned());
        row
    };
    let rows = Rows::new(Screen::of_stdout());
    format!(
        "{} (cosine {:.2})\n{}",
        escape_line(&pair.looks_like),
        pair.cosine,
        rows.text(&[row("newer", &pair.newer), row("older", &pair.older)])
    )
}

/// Asks about each pair of which no memory was dealt with before.
async fn ask_about_all(
    client: &VerbClient,
    (pairs, details): (&[ReviewPair], &RowDetails),
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let mut gone: HashSet<&MemoryId> = HashSet::new();
    for (at, pair) in pairs.iter().enumerate() {
        if gone.contains(&pair.newer.id) || gone.contains(&pair.older.id) {
            continue;
        }
        print_line(format!("{} of {}", at + 1, pairs.len()))?;
        print_line(pair_text(pair, details))?;
        let decision = choose(QUESTION, parse)?.unwrap_or(Decision::Quit);
        match decision {
            Decision::Quit => break,
            Decision::Supersede | Decision::ForgetOlder => gone.insert(&pair.older.id),
            Decision::ForgetNewer => gone.insert(&pair.newer.id),
            Decision::KeepBoth | Decision::Skip => false,
        };
        apply(client, pair, decision, group).await?;
    }
    Ok(())
}

fn parse(typed: &str) -> Option<Decision> {
    match typed.to_lowercase().as_str() {
        "" => Some(Decision::Skip),
        "k" => Some(Decision::KeepBoth),
        "s" => Some(Decision::Supersede),
        "o" => Some(Decision::ForgetOlder),
        "w" => Some(Decision::ForgetNewer),
        "q" => Some(Decision::Quit),
        _ => None,
    }
}

async fn apply(
    client: &VerbClient,
    pair: &ReviewPair,
    decision: Decision,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let (newer, older) = (pair.newer.id.clone(), pair.older.id.clone());
    match decision {
        Decision::KeepBoth => {
            let keep = Some(vec![newer, older]);
            let request = ReviewRequest { keep, group: group.cloned(), ..ReviewRequest::default() };
            client.call(&request).await?;
            print_line("Both are kept")
        }
        Decision::Supersede => {
            let request = SupersedeRequest { old: older, new: newer, group: group.cloned() };
            let reply: SupersedeReply = client.call(&request).await?;
            print_line(format!("Superseded{}", undo_hint(reply.act)))
        }
        Decision::ForgetOlder => forget(client, &older, group).await,
        Decision::ForgetNewer => forget(client, &newer, group).await,
        Decision::Skip | Decision::Quit => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_letter_decides() {
        assert_eq!(parse("S"), Some(Decision::Supersede));
        assert_eq!(parse(""), Some(Decision::Skip));
        assert_eq!((parse("y"), parse("n"), parse("supersede")), (None, None, None));
    }
}
