//! `loci search`: memories by meaning and words, best first.

mod explain;

use crate::cli::memories::Search;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{date, print};
use crate::output::{Problem, lines, note, plain, say, table};
use loci_proto::requests::recall::{RecallReply, RecalledMemory};
use serde_json::json;

/// Tokens of an answer; a person's terminal has no budget.
const BUDGET: u32 = 1_000_000;

/// Memories that one search can show.
const MOST: usize = 20;

/// Asks, and prints what was found.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Search) -> Result<(), Problem> {
    let query = asked.query.join(" ");
    let request = json!({
        "query": query, "type": asked.kind, "scope": asked.scope, "group": asked.group, "max_results": asked.limit,
        "min_confidence": asked.min_confidence, "summary_only": !asked.full, "token_budget": BUDGET,
        "date_from": asked.from, "date_to": asked.to,
        "explain": asked.explain.then_some(true), "dry_run": (asked.dry_run || asked.explain).then_some(true),
    });
    let answer = door.reply("recall_memory", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: RecallReply = answer.read()?;
    let found = if asked.full { in_full(&reply.results) } else { previews(&reply.results) };
    let explained = reply
        .explain
        .as_ref()
        .map(|explained| explain::screen(explained, &reply.results))
        .unwrap_or_default();
    say(format!("{found}{}{explained}", footer(&reply)))?;
    let notes = reply.note.iter().chain(&reply.degraded.hint);
    notes.for_each(|text| note("Note:", text));
    Ok(())
}

fn footer(reply: &RecallReply) -> String {
    match (reply.results.len(), reply.total_matched) {
        (0, _) => "No memory fits.".to_owned(),
        (shown, matched) if shown == MOST && matched > shown => {
            format!("\nthe best {shown} of {matched} that fit")
        }
        (shown, matched) if matched > shown => {
            format!("\nthe best {shown} of {matched} that fit; more with --limit")
        }
        (1, _) => "\n1 memory".to_owned(),
        (shown, _) => format!("\n{shown} memories"),
    }
}

fn score(found: &RecalledMemory) -> String {
    found.score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}

/// How many say the same and are not given again.
fn also(found: &RecalledMemory) -> String {
    if found.also.is_empty() { String::new() } else { format!(" (+{} alike)", found.also.len()) }
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
            plain(preview) + &also(found),
        ]
    };
    let head = ["SCORE", "TYPE", "ID", "MEMORY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(found.iter().map(row)).collect();
    table(&rows)
}

fn in_full(found: &[RecalledMemory]) -> String {
    let block = |found: &RecalledMemory| {
        let created = found.created_at.as_deref().map(date).unwrap_or_default();
        let confidence = found
            .confidence
            .map_or(String::new(), |confidence| format!(", confidence {:.2}", confidence.get()));
        let head = format!("{}  {}  {}{confidence}, {created}", score(found), found.kind, found.id);
        let text = lines(found.content.as_deref().unwrap_or_default());
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
