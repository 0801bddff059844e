//! `loci search --explain`: a table of the parts of each score, one column per memory, and the number of memories after each step.

use crate::commands::input::memory_id;
use crate::output::{Screen, table_on};
use loci_proto::requests::explain::{RankedScore, RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::RecalledMemory;

/// Memories per table.
const COLUMNS: usize = 6;

/// Returns the text that is printed below the results.
pub fn screen(explained: &RecallExplanation, found: &[RecalledMemory]) -> String {
    let tables: Vec<String> = found.chunks(COLUMNS).map(side_by_side).collect();
    let RecallExplanation {
        ranking,
        in_store,
        visible,
        admitted,
        matched,
        ranked,
        collapsed,
        over_limit,
        cut_by_budget,
    } = explained;
    format!(
        "\n\nScore breakdown (ranking: {ranking})\n{}\n\
         {in_store} memories in the store, {visible} visible here, {admitted} passed the filters, {matched} matched, {ranked} ranked\n\
         (including neighbours of good matches); {collapsed} dropped as duplicates of a better one, {over_limit} over the limit,\n\
         {cut_by_budget} over the token budget",
        tables.join("\n"),
    )
}

fn side_by_side(found: &[RecalledMemory]) -> String {
    let none = ScoreBreakdown::default();
    let whys: Vec<&ScoreBreakdown> =
        found.iter().map(|found| found.why.as_ref().unwrap_or(&none)).collect();
    let mut rows = vec![row("", found.iter().map(|found| memory_id::short(found.id.as_str())))];
    let leg =
        |leg: Option<RankedScore>| leg.map_or("-".to_owned(), |leg| format!("{:.3}", leg.score));
    let rank = |leg: Option<RankedScore>| leg.map_or("-".to_owned(), |leg| leg.rank.to_string());
    rows.push(row("vector similarity", whys.iter().map(|why| leg(why.vector))));
    rows.push(row("  rank", whys.iter().map(|why| rank(why.vector))));
    rows.push(row("keyword score", whys.iter().map(|why| leg(why.keywords))));
    rows.push(row("  rank", whys.iter().map(|why| rank(why.keywords))));
    for step in steps(&whys) {
        let addition = |why: &&ScoreBreakdown| {
            why.parts
                .iter()
                .find(|part| part.step == step)
                .map_or("-".to_owned(), |part| format!("{:.4}", part.adds))
        };
        rows.push(row(&format!("+ {step}"), whys.iter().map(addition)));
    }
    rows.push(row(
        "= score",
        found.iter().map(|found| found.score.map_or("-".to_owned(), |score| format!("{score:.4}"))),
    ));
    table_on(Screen::of_stdout(), &rows)
}

/// Returns the steps that occur in any breakdown, in ranking order.
fn steps(whys: &[&ScoreBreakdown]) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for why in whys {
        let mut at = 0;
        for part in &why.parts {
            let known = steps.iter().position(|step| *step == part.step);
            if known.is_none() {
                steps.insert(at, part.step.clone());
            }
            at = known.unwrap_or(at) + 1;
        }
    }
    steps
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}
