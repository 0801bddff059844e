//! `loci search --explain`: a table of the parts of each score, one column per memory, and the number of memories after each step.

use crate::commands::input::memory_id;
use crate::output::{Screen, table_on};
use loci_proto::requests::explain::{RankedScore, RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::RecalledMemory;

/// Memories per table, one column each.
const MEMORIES_PER_TABLE: usize = 6;

/// Returns the score breakdown that is printed below the results.
pub fn breakdown_text(explained: &RecallExplanation, results: &[RecalledMemory]) -> String {
    let tables: Vec<String> = results.chunks(MEMORIES_PER_TABLE).map(breakdown_table).collect();
    let RecallExplanation {
        ranking,
        query_kind,
        fit,
        evidence,
        in_store,
        visible,
        admitted,
        matched,
        ranked,
        collapsed,
        over_limit,
        cut_by_budget,
        latency_us,
    } = explained;
    let fit = fit.map_or_else(String::new, |fit| {
        let values: Vec<String> =
            evidence.iter().map(|(name, value)| format!("{name} {value:.2}")).collect();
        format!("\nLikelihood that an answer is among them: {fit:.2} ({})", values.join(", "))
    });
    let kind =
        query_kind.as_ref().map_or_else(String::new, |kind| format!("; kind of query: {kind}"));
    let latency =
        latency_us.map_or_else(String::new, |latency| format!("; {latency} µs in the daemon"));
    format!(
        "\n\nScore breakdown (ranking: {ranking}{kind})\n{}\n\
         {in_store} memories in the store, {visible} visible here, {admitted} passed the filters, {matched} matched, {ranked} ranked\n\
         (including neighbours of good matches); {collapsed} dropped as duplicates of a better one, {over_limit} over the limit,\n\
         {cut_by_budget} over the token budget{latency}{fit}",
        tables.join("\n"),
    )
}

fn breakdown_table(results: &[RecalledMemory]) -> String {
    let no_breakdown = ScoreBreakdown::default();
    let breakdowns: Vec<&ScoreBreakdown> =
        results.iter().map(|result| result.why.as_ref().unwrap_or(&no_breakdown)).collect();
    let mut rows = vec![row("", results.iter().map(|result| memory_id::short(result.id.as_str())))];
    let text = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let score = |signal: Option<RankedScore>| {
        signal.map_or("-".to_owned(), |signal| format!("{:.3}", signal.score))
    };
    let rank = |signal: Option<RankedScore>| {
        signal.map_or("-".to_owned(), |signal| signal.rank.to_string())
    };
    rows.push(row("vector similarity", breakdowns.iter().map(|breakdown| score(breakdown.vector))));
    rows.push(row("  rank", breakdowns.iter().map(|breakdown| rank(breakdown.vector))));
    rows.push(row("keyword score", breakdowns.iter().map(|breakdown| score(breakdown.keywords))));
    rows.push(row("  rank", breakdowns.iter().map(|breakdown| rank(breakdown.keywords))));
    rows.push(row("found by", breakdowns.iter().map(|breakdown| text(&breakdown.source))));
    rows.push(row("level", breakdowns.iter().map(|breakdown| text(&breakdown.level))));
    let latest = |breakdown: &&ScoreBreakdown| if breakdown.is_latest { "yes" } else { "no" };
    rows.push(row("newest value", breakdowns.iter().map(latest).map(str::to_owned)));
    rows.push(row("used", breakdowns.iter().map(|breakdown| breakdown.access_count.to_string())));
    let importance = |breakdown: &&ScoreBreakdown| {
        breakdown.importance.map_or("-".to_owned(), |importance| format!("{importance:.2}"))
    };
    if breakdowns.iter().any(|breakdown| breakdown.importance.is_some()) {
        rows.push(row("importance", breakdowns.iter().map(importance)));
    }
    for step in step_names(&breakdowns) {
        let addition = |breakdown: &&ScoreBreakdown| {
            breakdown
                .parts
                .iter()
                .find(|part| part.step == step)
                .map_or("-".to_owned(), |part| format!("{:.4}", part.adds))
        };
        rows.push(row(&format!("+ {step}"), breakdowns.iter().map(addition)));
    }
    let score = |breakdown: &&ScoreBreakdown| {
        format!("{:.4}", breakdown.parts.iter().map(|part| part.adds).sum::<f64>())
    };
    rows.push(row("= score", breakdowns.iter().map(score)));
    let fit = |result: &RecalledMemory| {
        result.score.map_or("-".to_owned(), |score| format!("{score:.2}"))
    };
    rows.push(row("fit", results.iter().map(fit)));
    table_on(Screen::of_stdout(), &rows)
}

/// Returns the steps that occur in any breakdown, in ranking order.
fn step_names(breakdowns: &[&ScoreBreakdown]) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for breakdown in breakdowns {
        let mut insert_at = 0;
        for part in &breakdown.parts {
            let position = steps.iter().position(|step| *step == part.step);
            if position.is_none() {
                steps.insert(insert_at, part.step.clone());
            }
            insert_at = position.unwrap_or(insert_at) + 1;
        }
    }
    steps
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}
