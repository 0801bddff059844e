//! `loci search`: finds memories by meaning and words, best first.

mod explain;

use crate::cli::memories::Search;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date, print_json};
use crate::output::{Problem, escape_line, escape_lines, print_line, print_note, table};
use loci_proto::requests::recall::{RecallReply, RecalledMemory};
use serde_json::json;

/// Token budget of the reply: effectively unlimited for a terminal.
const TOKEN_BUDGET: u32 = 1_000_000;

/// Maximum results of one search.
const MAX_RESULTS: usize = 20;

/// Searches and prints the results.
///
/// # Errors
/// A refusal of the daemon.
pub async fn run(client: &VerbClient, args: Search) -> Result<(), Problem> {
    let query = args.query.join(" ");
    let request = json!({
        "query": query, "type": args.kind, "scope": args.scope, "group": args.group, "max_results": args.limit,
        "min_confidence": args.min_confidence, "summary_only": !args.full, "token_budget": TOKEN_BUDGET,
        "date_from": args.from, "date_to": args.to,
        "explain": args.explain.then_some(true), "dry_run": (args.dry_run || args.explain).then_some(true),
    });
    let raw_reply = client.call_raw("recall_memory", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RecallReply = raw_reply.parse()?;
    let found = if args.full { full_text(&reply.results) } else { previews(&reply.results) };
    let explained = reply
        .explain
        .as_ref()
        .map(|explained| explain::screen(explained, &reply.results))
        .unwrap_or_default();
    print_line(format!("{found}{}{explained}", footer(&reply)))?;
    let notes = reply.note.iter().chain(&reply.degraded.hint);
    notes.for_each(|text| print_note("Note:", text));
    Ok(())
}

fn footer(reply: &RecallReply) -> String {
    match (reply.results.len(), reply.total_matched) {
        (0, _) => "No memory matches.".to_owned(),
        (shown, matched) if shown == MAX_RESULTS && matched > shown => {
            format!("\nThe best {shown} of {matched} matches")
        }
        (shown, matched) if matched > shown => {
            format!("\nThe best {shown} of {matched} matches; show more with --limit")
        }
        (1, _) => "\n1 memory".to_owned(),
        (shown, _) => format!("\n{shown} memories"),
    }
}

fn score(found: &RecalledMemory) -> String {
    found.score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}

/// Returns the number of collapsed duplicates.
fn duplicates(found: &RecalledMemory) -> String {
    if found.also.is_empty() { String::new() } else { format!(" (+{} similar)", found.also.len()) }
}

fn previews(found: &[RecalledMemory]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let row = |found: &RecalledMemory| {
        let preview = found.preview.as_deref().unwrap_or_default();
        [
            score(found),
            found.kind.to_string(),
            memory_id::short(found.id.as_str()),
            escape_line(preview) + &duplicates(found),
        ]
    };
    let heading = ["SCORE", "TYPE", "ID", "MEMORY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(found.iter().map(row)).collect();
    table(&rows)
}

fn full_text(found: &[RecalledMemory]) -> String {
    let block = |found: &RecalledMemory| {
        let created = found.created_at.as_deref().map(date).unwrap_or_default();
        let confidence = found
            .confidence
            .map_or(String::new(), |confidence| format!(", confidence {:.2}", confidence.get()));
        let head = format!("{}  {}  {}{confidence}, {created}", score(found), found.kind, found.id);
        let text = escape_lines(found.content.as_deref().unwrap_or_default());
        let relations = found.relations.iter().map(crate::commands::inspect::relation);
        let also = found.also.iter().map(|id| format!("= {id}"));
        let body: Vec<String> = std::iter::once(head)
            .chain(text.lines().map(str::to_owned))
            .chain(relations)
            .chain(also)
            .collect();
        body.join("\n  ") + "\n"
    };
    found.iter().map(block).collect::<Vec<_>>().join("\n")
}
