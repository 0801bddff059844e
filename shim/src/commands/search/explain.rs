//! `loci search --explain`: how each score came about, as a table with the memories side by side, and how many each step left.

use crate::commands::input::memory_id;
use crate::output::{Screen, table_on};
use loci_proto::requests::explain::{RankedScore, RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::RecalledMemory;

/// Memories side by side; more make the next table.
const ABREAST: usize = 6;

/// What is printed below the memories that were found.
pub fn screen(explained: &RecallExplanation, found: &[RecalledMemory]) -> String {
    let tables: Vec<String> = found.chunks(ABREAST).map(side_by_side).collect();
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
        "\n\nHow each score came about (ranking: {ranking})\n{}\n\
         {in_store} in the store, {visible} of them visible here and now, {admitted} let through by the filters, {matched} matched,\n\
         {ranked} ranked (good ones have company); {collapsed} said the same as a better one, {over_limit} came after the limit,\n\
         {cut_by_budget} did not fit the token budget",
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
    let place = |leg: Option<RankedScore>| leg.map_or("-".to_owned(), |leg| leg.rank.to_string());
    rows.push(row("cosine of the vectors", whys.iter().map(|why| leg(why.vector))));
    rows.push(row("  place by it", whys.iter().map(|why| place(why.vector))));
    rows.push(row("share of the keywords", whys.iter().map(|why| leg(why.keywords))));
    rows.push(row("  place by it", whys.iter().map(|why| place(why.keywords))));
    for step in steps(&whys) {
        let adds = |why: &&ScoreBreakdown| {
            why.parts
                .iter()
                .find(|part| part.step == step)
                .map_or("-".to_owned(), |part| format!("{:.4}", part.adds))
        };
        rows.push(row(&format!("+ {step}"), whys.iter().map(adds)));
    }
    rows.push(row(
        "= score",
        found.iter().map(|found| found.score.map_or("-".to_owned(), |score| format!("{score:.4}"))),
    ));
    table_on(Screen::of_stdout(), &rows)
}

/// Every step that any of them has, in the order of the ranking.
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
