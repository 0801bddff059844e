//! `loci fix`: finds what mended an error message: memories of the same error, else the nearest workflows.

use crate::cli::lessons::Fix;
use crate::client::call::VerbClient;
use crate::commands::input::{argument, text};
use crate::commands::reply_text::print_json;
use crate::commands::search::whole_results;
use crate::output::{Problem, print_line};
use loci_proto::bounded_numbers::MaxResults;
use loci_proto::error_text;
use loci_proto::memory::{MemoryType, QueryKind};
use loci_proto::requests::recall::{RecallReply, RecallRequest, RecalledMemory};

/// Results that are printed.
const MAX_RESULTS: i64 = 5;
/// Longest query, in characters: the search needs the line of the error, not the whole output.
const MAX_QUERY_CHARS: usize = 1_000;
/// Last lines of an output that are read first.
const MAX_LINES: usize = 2_000;

/// Returns the last lines of a text.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].join("\n")
}

/// Searches and prints the results.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Fix) -> Result<(), Problem> {
    let (given, end) = text::read_output(args.error.join(" "))?;
    if given.trim().is_empty() {
        return Err(Problem::usage("The error message is missing")
            .hint("Give it in quotes, or the output of a program: PROGRAM 2>&1 | loci fix -"));
    }
    // Most programs end with what went wrong; others go on after it.
    let last = [end.as_str(), given.as_str()].into_iter().find(|text| !text.is_empty());
    let last = last_lines(last.unwrap_or_default());
    let stated = |text: &str| error_text::line(text).filter(|line| error_text::key(line).is_some());
    let error = stated(&last).or_else(|| stated(&given));
    let is_error = error.is_some();
    let query: String = error.unwrap_or_else(|| given.chars().take(MAX_QUERY_CHARS).collect());
    let request = RecallRequest {
        query: Some(query.clone()),
        query_kind: Some(QueryKind::Error),
        kind: Some(MemoryType::Procedural),
        max_results: Some(argument("max_results", MaxResults::new(MAX_RESULTS))?),
        group: args.project.group.clone(),
        ..RecallRequest::default()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RecallReply = raw_reply.parse()?;
    let (matching, others): (Vec<RecalledMemory>, Vec<RecalledMemory>) =
        reply.results.into_iter().partition(|result| result.matched.is_some());
    match (matching.is_empty(), others.is_empty() || reply.weak) {
        (false, _) => print_line(whole_results(client, &query, &matching).await?.trim_end()),
        (true, true) if is_error => print_line("Nothing is known of this error."),
        (true, true) => {
            print_line("This text has no line that states an error, and nothing is near it.")
        }
        (true, false) => {
            print_line(if is_error {
                "Nothing is known of this very error. The nearest:\n"
            } else {
                "This text has no line that states an error. The nearest workflows:\n"
            })?;
            print_line(whole_results(client, &query, &others).await?.trim_end())
        }
    }
}
