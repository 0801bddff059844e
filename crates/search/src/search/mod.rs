//! Hybrid search over the warm index: from a query to ranked memories.
//!
//! 1. `query` parses the text; a mask of the admitted memories comes from the caller. The mask
//!    applies before anything is counted or ranked: word statistics, neighbours and context are
//!    those of the admitted memories. So a small project next to a large one is never starved, and
//!    no text of another project changes a score.
//! 2. A strategy scores: `exhaustive` scores every memory; `coarse_to_fine` estimates all of a
//!    large set and scores the best candidates. Both use the formulas of `ranking`.
//! 3. `graph_boost` raises memories linked to named entities, `project_preference` those of the
//!    asking project, `branch_preference` lowers those of another branch, `weights` multiplies by importance
//!    and age if that is configured, `summary_rollup` gives summaries the scores of the memories that they
//!    replace.
//! 4. `top_k` and `fusion::best` select; `judge` orders the best and says of each how likely it is
//!    an answer; `collapse` groups results that state the same fact; `explain` reports how scores
//!    came about.
//!
//! `associations` finds what is linked to the results; it is no part of a search. Not here: rows and
//! replies (`operations::recall`), formulas (`ranking`).

pub mod associations;
pub mod branch_preference;
pub mod budget;
pub mod coarse_to_fine;
pub mod collapse;
pub mod exhaustive;
pub mod explain;
pub mod graph_boost;
pub mod judge;
mod linked_fields;
pub mod nearest;
pub mod project_preference;
pub mod query;
pub mod repeats;
pub(crate) mod score_changes;
pub mod similar_results;
pub mod stages;
pub(crate) mod summary_rollup;
mod top_k;
pub mod types;
pub mod weights;

pub use linked_fields::FieldWeights;
pub use linked_fields::{FieldRelation, LinkedFields, QueryStems};
pub use stages::Stages;
pub use types::Effort;
pub use types::{Detail, SearchQuery, SearchResults};
pub use weights::{RecencyLambda, Weights};

use crate::index::{Index, Mask};
use crate::ranking::fusion;
use crate::ranking::fusion::{Fusion, ScoredSlot};
use crate::ranking::late_interaction;
use graph_boost::QueryEntities;
use judge::Judged;
use query::prepared::PreparedQuery;
use query::terms::named_entities;
use score_changes::{ScoreChanges, Subject};
use summary_rollup::SummaryTree;
use types::{Explanation, LateInteractionInput, Scoring};

/// Searches the memories that the mask admits.
pub fn search(index: &Index, mask: &Mask, query: &SearchQuery<'_>) -> SearchResults {
    let summaries = SummaryTree::new(index, mask);
    let redundant = summaries.redundant(index);
    let reduced_mask = (!redundant.is_empty()).then(|| mask.without(&redundant));
    let mask = reduced_mask.as_ref().unwrap_or(mask);
    let named = named_entities(index, mask, query.parsed, query.projects);
    let can_match_tokens = query.fusion == Fusion::Soft && index.all_encoded(mask);
    let encoding = query.encoding.filter(|encoding| can_match_tokens && encoding.has_sign_codes);
    let is_large =
        mask.count() > late_interaction::EXHAUSTIVE_LIMIT && query.effort != Effort::Exhaustive;
    let Scoring { mut scored, matched, breakdown, prepared } = match encoding {
        Some(encoding) => {
            let input = LateInteractionInput { index, mask, query, encoding, named: &named };
            if is_large {
                coarse_to_fine::search(input)
            } else {
                exhaustive::late_interaction(input)
            }
        }
        None => exhaustive::plain_fusion(index, mask, query, &named),
    };
    let entities = QueryEntities { named: &named, answering: query.answering };
    let subject = Subject { entities, terms: prepared.as_ref().map(PreparedQuery::terms) };
    let boosts = ScoreChanges::apply(index, mask, query, subject, &mut scored);
    let is_nearest = matched == 0 && query.finds_nearest;
    scored.retain(|entry| is_nearest || entry.score > 0.0);
    let scores_before = if breakdown.is_some() { scored.clone() } else { Vec::new() };
    let limit = query.limit + collapse::SPARE;
    let mut results = roll_up(index, &summaries, scored, limit.max(judge::CANDIDATES));
    results.matched += matched;
    results.judgement = encoding.zip(prepared).and_then(|(encoding, prepared)| {
        judge::judge(&Judged {
            index,
            mask,
            encoding,
            prepared: &prepared,
            projects: query.projects,
            ranked: &results.ranked,
            boost: &|slot| boosts.of(slot),
            may_replace: query.may_replace,
        })
    });
    if let Some(judgement) = &results.judgement {
        results.ranked.sort_by(|a, b| judgement.fits[&b.slot].total_cmp(&judgement.fits[&a.slot]));
    }
    results.ranked.truncate(limit);
    results.is_weak = query.answering.is_empty()
        && match (&results.judgement, results.ranked.first()) {
            (Some(judgement), _) => judgement.is_weak(),
            (None, Some(best)) => fusion::weak_below(query.fusion, query.encoding.is_some())
                .is_some_and(|weak_below| best.score - boosts.of(best.slot) < weak_below),
            (None, None) => false,
        };
    results.explanation = breakdown.map(|breakdown| Explanation {
        ranking: match encoding {
            Some(_) => "soft",
            None => explain::plain_ranking_name(query.fusion, query.encoding.is_some()),
        },
        score_breakdowns: explain::score_breakdowns(
            &breakdown,
            &explain::ScoreStages {
                index,
                before_roll_up: &scores_before,
                changes: &boosts,
                ranked: &results.ranked,
            },
        ),
    });
    results
}

/// Rolls scores up into summaries and selects the best. `matched` of the result counts the
/// summaries that were added.
fn roll_up(
    index: &Index,
    summaries: &SummaryTree,
    mut scored: Vec<ScoredSlot>,
    limit: usize,
) -> SearchResults {
    let count_before = scored.len();
    let summarised = summaries.roll_up(&mut scored, limit);
    let matched = scored.len() - count_before;
    for entry in &mut scored {
        entry.score *= summary_rollup::weight(index, entry.slot);
    }
    SearchResults {
        positive: scored.iter().filter(|entry| entry.score > 0.0).count(),
        ranked: fusion::best(scored, limit),
        summarised,
        matched,
        is_weak: false,
        judgement: None,
        explanation: None,
    }
}
