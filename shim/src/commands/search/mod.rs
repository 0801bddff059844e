//! `loci search`: finds memories by meaning and words, best first.

mod explain;

use crate::cli::memories::Search;
use crate::client::call::VerbClient;
use crate::commands::input::{memory_id, text};
use crate::commands::reply_text::{date, print_json};
use crate::output::{Problem, Screen, escape_line, escape_lines, print_line, print_note, table_on};
use loci_proto::memory::{MemoryId, MemoryType};
use loci_proto::requests::recall::{RecallReply, RecalledMemory};
use serde_json::json;

/// Token budget of the reply: effectively unlimited for a terminal.
const TOKEN_BUDGET: u32 = 1_000_000;

/// Maximum results of one search.
const MAX_RESULTS: usize = 20;

/// Searches and prints the results.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Search) -> Result<(), Problem> {
    let query = text::read_argument(args.query.join(" "))?;
    let request = json!({
        "query": query, "type": args.kind, "scope": args.scope, "group": args.group, "max_results": args.limit,
        "min_confidence": args.min_confidence, "summary_only": !args.full, "token_budget": TOKEN_BUDGET,
        "date_from": args.from, "date_to": args.to, "status": args.status,
        "explain": args.explain.then_some(true), "dry_run": (args.dry_run || args.explain).then_some(true),
    });
    let raw_reply = client.call_raw("recall_memory", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RecallReply = raw_reply.parse()?;
    let results =
        if args.full { full_texts(&reply.results) } else { preview_table(&reply.results) };
    let breakdown = reply
        .explain
        .as_ref()
        .map(|explained| explain::breakdown_text(explained, &reply.results))
        .unwrap_or_default();
    let warning = if reply.weak { "Nothing fits well. The nearest:\n" } else { "" };
    print_line(format!("{warning}{results}{}{breakdown}", footer(&reply)))?;
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

fn kind(result: &RecalledMemory) -> MemoryType {
    result.kind.unwrap_or(MemoryType::Semantic)
}

fn score_text(result: &RecalledMemory) -> String {
    result.score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}

/// Returns what precedes a preview, so that no narrow screen cuts it off: whether the memory has faded,
/// the newer version, and how many similar memories it stands for.
fn marks_text(result: &RecalledMemory) -> String {
    let similar = match result.also.len() {
        0 => String::new(),
        count => format!("(+{count} similar) "),
    };
    let faded = if result.faded { "(faded) " } else { "" };
    format!("{}{faded}{}{similar}", status_text(result), newer_text(result))
}

/// Returns the status of a candidate or a rejected attempt as `(candidate) `; empty for others.
fn status_text(result: &RecalledMemory) -> String {
    result.status.as_ref().map_or(String::new(), |status| format!("({}) ", escape_line(status)))
}

/// Returns which result states a newer value as `(older than 90123456) `; empty without one.
fn newer_text(result: &RecalledMemory) -> String {
    let text = |id: &MemoryId| format!("(older than {}) ", memory_id::short(id.as_str()));
    result.older_version_of.as_ref().map(text).unwrap_or_default()
}

/// Returns the day that the text names as ` (day 2026-04-24, from the text)`; empty without one.
fn day_text(result: &RecalledMemory) -> String {
    let text = |day: &String| format!(" (day {}, from the text)", escape_line(day));
    result.event_date_derived.as_ref().map(text).unwrap_or_default()
}

fn preview_table(results: &[RecalledMemory]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let has_other_project = results.iter().any(|result| result.group.is_some());
    let row = |result: &RecalledMemory| {
        let preview = result.preview.as_deref().unwrap_or_default();
        let mut row = vec![
            score_text(result),
            kind(result).to_string(),
            memory_id::short(result.id.as_str()),
        ];
        if has_other_project {
            row.push(escape_line(result.group.as_deref().unwrap_or("-")));
        }
        row.push(marks_text(result) + &escape_line(preview));
        row
    };
    let mut heading = vec!["SCORE", "TYPE", "ID"];
    heading.extend(has_other_project.then_some("PROJECT"));
    heading.push("MEMORY");
    let heading = heading.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(results.iter().map(row)).collect();
    table_on(Screen::of_stdout(), &rows)
}

/// Returns the lines about what was given up, and about files that have changed.
fn lessons(result: &RecalledMemory) -> Vec<String> {
    let why = result.rejected.iter().map(|why| format!("rejected: {}", escape_line(why)));
    let tried = result.tried.iter().map(|tried| {
        let (preview, why) = (escape_line(&tried.preview), escape_line(&tried.why));
        format!("tried {}  {preview} (rejected: {why})", memory_id::short(tried.id.as_str()))
    });
    let stale = result.stale.iter().map(|stale| format!("stale: {}", escape_line(stale)));
    why.chain(tried).chain(stale).collect()
}

pub(super) fn full_texts(results: &[RecalledMemory]) -> String {
    let full_text = |result: &RecalledMemory| {
        let created = result.created_at.as_deref().map(date).unwrap_or_default();
        let confidence = result
            .confidence
            .map_or(String::new(), |confidence| format!(", confidence {:.2}", confidence.get()));
        let project = result
            .group
            .as_ref()
            .map_or(String::new(), |name| format!(", project {}", escape_line(name)));
        let newer = result.older_version_of.as_ref();
        let newer = newer.map_or(String::new(), |id| format!(", older version of {id}"));
        let heading = format!(
            "{}  {}  {}{confidence}, {created}{}{}{newer}{project}",
            score_text(result),
            kind(result),
            result.id,
            day_text(result),
            if result.faded { " (faded)" } else { "" }
        );
        let heading = status_text(result) + &heading;
        let text = escape_lines(result.content.as_deref().unwrap_or_default());
        let relations = result.relations.iter().map(crate::commands::inspect::relation_line);
        let also = result.also.iter().map(|id| format!("= {id}"));
        let body: Vec<String> = std::iter::once(heading)
            .chain(text.lines().map(str::to_owned))
            .chain(lessons(result))
            .chain(relations)
            .chain(also)
            .collect();
        body.join("\n  ") + "\n"
    };
    results.iter().map(full_text).collect::<Vec<_>>().join("\n")
}
