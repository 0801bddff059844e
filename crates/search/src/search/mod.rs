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
//! 4. `top_k` and `fusion::best` select; `collapse` groups results that state the same fact;
//!    `versions` puts newer values before older ones; `explain` reports how scores came about.
//!
//! `associations` finds what is linked to the results; it is no part of a search. Not here: rows and
//! replies (`operations::recall`), formulas (`ranking`).

pub mod associations;
pub mod branch_preference;
pub mod budget;
pub mod coarse_to_fine;
pub mod collapse;
pub mod evidence;
pub mod exhaustive;
pub mod explain;
pub mod graph_boost;
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
pub mod versions;
pub mod weights;

pub use linked_fields::FieldWeights;
pub use linked_fields::{FieldRelation, LinkedFields, QueryStems};
pub use stages::Stages;
pub use types::Effort;
pub use types::{Detail, SearchQuery, SearchResults};
pub use weights::{RecencyLambda, Weights};

use crate::index::{Index, Mask, QuantizedVector, slot_id};
use crate::ranking::fusion;
use crate::ranking::fusion::{Fusion, ScoredSlot};
use crate::ranking::late_interaction;
use evidence::{Evidence, EvidenceInput};
use graph_boost::QueryEntities;
use loci_base::model::encoding::QueryEncoding;
use query::terms::named_entities;
use score_changes::ScoreChanges;
use summary_rollup::SummaryTree;
use types::{Explanation, LateInteractionInput, Scoring};

/// Searches the memories that the mask admits.
pub fn search(index: &Index, mask: &Mask, query: &SearchQuery<'_>) -> SearchResults {
    let summaries = SummaryTree::new(index, mask);
    let redundant = summaries.redundant(index);
    let reduced_mask = (!redundant.is_empty()).then(|| mask.without(&redundant));
    let mask = reduced_mask.as_ref().unwrap_or(mask);
    let named = named_entities(index, mask, query.parsed);
    let can_match_tokens = query.fusion == Fusion::Soft && index.all_encoded(mask);
    let encoding = query.encoding.filter(|encoding| can_match_tokens && encoding.has_sign_codes);
    let is_large =
        mask.count() > late_interaction::EXHAUSTIVE_LIMIT && query.effort != Effort::Exhaustive;
    let Scoring { mut scored, matched, length_bonus, breakdown, prepared } = match encoding {
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
    let boosts = ScoreChanges::apply(index, mask, query, entities, &mut scored);
    let scores_before = if breakdown.is_some() { scored.clone() } else { Vec::new() };
    let mut results = roll_up(index, &summaries, scored, query.limit);
    results.matched += matched;
    let unboosted = results.ranked.first().map(|best| {
        best.score - boosts.of(best.slot) - for_length(index, encoding, length_bonus, best.slot)
    });
    let evidence =
        encoding.zip(prepared).zip(unboosted).and_then(|((encoding, prepared), score)| {
            Evidence::gather(EvidenceInput {
                index,
                ranked: &results.ranked,
                encoding,
                prepared: &prepared,
                score,
                admitted: mask.count(),
            })
        });
    results.is_weak = query.answering.is_empty()
        && match evidence {
            Some(evidence) => evidence.is_weak(),
            None => fusion::weak_below(query.fusion, query.encoding.is_some())
                .zip(unboosted)
                .is_some_and(|(weak_below, score)| score < weak_below),
        };
    results.explanation = breakdown.map(|breakdown| Explanation {
        ranking: match encoding {
            Some(_) => "soft",
            None => explain::plain_ranking_name(query.fusion, query.encoding.is_some()),
        },
        evidence,
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

/// Returns what the length of the query added to the score of a slot.
fn for_length(
    index: &Index,
    encoding: Option<&QueryEncoding>,
    length_bonus: f64,
    slot: usize,
) -> f64 {
    let Some(encoding) = encoding.filter(|_| length_bonus > 0.0) else { return 0.0 };
    let vector = QuantizedVector::from(&encoding.vector);
    length_bonus * f64::from(index.cosines(&vector, &[slot_id(slot)])[0]).max(0.0)
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
        ranked: fusion::best(scored, limit + collapse::SPARE),
        summarised,
        matched,
        is_weak: false,
        explanation: None,
    }
}
