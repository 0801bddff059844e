//! `loci search`: finds memories by meaning and words, best first.

mod explain;

use crate::cli::memories::Search;
use crate::client::call::VerbClient;
use crate::commands::input::{argument, memory_id, text};
use crate::commands::reply_text::{print_as_of, print_json};
use crate::commands::row_details::RowDetails;
use crate::commands::wander::association_rows;
use crate::output::{
    DERIVED_DAY, Extent, MemoryRow, Problem, Rows, Screen, Terms, escape_line, print_line,
    print_note,
};
use loci_proto::bounded_numbers::{MaxResults, TokenBudget};
use loci_proto::requests::recall::{RecallReply, RecallRequest, RecalledMemory};
use loci_proto::requests::topics::ResultCluster;

/// Token budget of the reply: effectively unlimited for a terminal.
const TOKEN_BUDGET: i64 = 1_000_000;

/// Maximum results of one search.
const MAX_RESULTS: usize = 20;

/// Searches and prints the results.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Search) -> Result<(), Problem> {
    let query = text::read_argument(args.query.join(" "))?;
    let limit = args.limit.map(|limit| argument("max_results", MaxResults::new(limit.into())));
    let status = args.status.as_ref().map(|status| argument("status", status.parse()));
    let request = RecallRequest {
        query: Some(query.clone()),
        kind: args.kind,
        scope: args.scope,
        group: args.group.clone(),
        max_results: limit.transpose()?,
        min_confidence: args.min_confidence,
        category: args.category.clone(),
        subject: args.subject.clone(),
        summary_only: !args.full,
        token_budget: Some(argument("token_budget", TokenBudget::new(TOKEN_BUDGET))?),
        as_of: args.as_of.clone(),
        valid_at: args.valid_at.clone(),
        date_from: args.from.clone(),
        date_to: args.to.clone(),
        status: status.transpose()?,
        include_dormant: args.include_dormant,
        nearest: true,
        cluster: args.cluster,
        associations: args.associations,
        explain: args.explain,
        dry_run: args.dry_run || args.explain,
        ..RecallRequest::default()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RecallReply = raw_reply.parse()?;
    print_as_of(reply.as_of.as_ref());
    let linked = reply.associations.iter().map(|association| &association.id);
    let ids = reply.results.iter().map(|result| &result.id).chain(linked);
    let found = RowDetails::fetch_as_of(client, ids, args.as_of.as_deref()).await?;
    let rows = Rows {
        terms: Terms::of_query(&query),
        meter: "FIT",
        numbers: args.explain || !Screen::of_stdout().is_terminal,
        extent: if args.full { Extent::Whole } else { Extent::Lines(3) },
        ..Rows::new(Screen::of_stdout())
    };
    let shown = shown_rows(rows.extent, &reply.results, &found);
    let results = rows.text(&shown);
    let breakdown = reply
        .explain
        .as_ref()
        .map(|explained| explain::breakdown_text(explained, &reply.results))
        .unwrap_or_default();
    let warning = if reply.weak { "Nothing fits well. The nearest:\n" } else { "" };
    print_line(format!("{warning}{results}{}{breakdown}", footer(&reply, args.limit)))?;
    if !reply.clusters.is_empty() {
        print_line(format!("\n{}", cluster_lines(&reply.clusters)))?;
    }
    if !reply.associations.is_empty() {
        let linked = association_rows(&found, &reply.associations);
        print_line(format!("\nLinked to them\n{}", rows.text(&linked).trim_end()))?;
    }
    if shown.iter().any(MemoryRow::has_derived_day) {
        print_line(DERIVED_DAY)?;
    }
    let notes = reply.note.iter().chain(&reply.degraded.hint);
    notes.for_each(|text| print_note("Note:", text));
    Ok(())
}

fn footer(reply: &RecallReply, limit: Option<u8>) -> String {
    match (reply.results.len(), reply.total_matched) {
        (0, _) => "No memory matches.".to_owned(),
        (shown, matched) if shown == MAX_RESULTS && matched > shown => {
            format!("\nThe best {shown} of {matched} matches")
        }
        (shown, matched) if matched > shown && limit.is_none_or(|limit| shown >= limit.into()) => {
            format!("\nThe best {shown} of {matched} matches; show more with --limit")
        }
        (1, _) => "\n1 memory".to_owned(),
        (shown, _) => format!("\n{shown} memories"),
    }
}

/// Returns the rows of the results. The bar and the number say how likely a result answers.
fn shown_rows(extent: Extent, results: &[RecalledMemory], found: &RowDetails) -> Vec<MemoryRow> {
    let row = |result: &RecalledMemory| {
        let text = result.preview.as_deref().or(result.content.as_deref()).unwrap_or_default();
        let mut row = found.row(&result.id, text);
        row.share = result.score;
        row.marks.extend(marks(result));
        row.below = lessons(result);
        if extent == Extent::Whole {
            let relations = result.relations.iter().map(crate::commands::inspect::relation_line);
            row.below.extend(relations.chain(result.also.iter().map(|id| format!("= {id}"))));
        }
        row
    };
    results.iter().map(row).collect()
}

/// Returns a line for each group of results: its words, and the ids.
fn cluster_lines(clusters: &[ResultCluster]) -> String {
    let line = |cluster: &ResultCluster| {
        let ids: Vec<String> = cluster.ids.iter().map(|id| memory_id::short(id.as_str())).collect();
        let name = if cluster.name.is_empty() { "other" } else { &cluster.name };
        format!("{}: {}", escape_line(name), ids.join(" "))
    };
    clusters.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns whole results, as `loci fix` and `loci how` print them. The words of the query are marked.
///
/// # Errors
/// The daemon cannot be reached.
pub(super) async fn whole_results(
    client: &VerbClient,
    query: &str,
    results: &[RecalledMemory],
) -> Result<String, Problem> {
    let found = RowDetails::fetch(client, results.iter().map(|result| &result.id)).await?;
    let screen = Screen::of_stdout();
    let numbers = !screen.is_terminal;
    let rows = Rows {
        terms: Terms::of_query(query),
        meter: "FIT",
        numbers,
        extent: Extent::Whole,
        ..Rows::new(screen)
    };
    Ok(rows.text(&shown_rows(rows.extent, results, &found)))
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

/// Returns what is special about a result: it has faded, there is a newer version, it stands for similar memories.
fn marks(result: &RecalledMemory) -> Vec<String> {
    let mut marks = Vec::new();
    if result.faded {
        marks.push("faded".to_owned());
    }
    if result.outdated.is_some() {
        marks.push("outdated".to_owned());
    }
    if let Some(newer) = &result.older_version_of {
        marks.push(format!("older than {}", memory_id::short(newer.as_str())));
    }
    if !result.also.is_empty() {
        marks.push(format!("+{} similar", result.also.len()));
    }
    marks
}
