//! Whether the page answers at all: a logistic regression over what matches in its first result.
//!
//! One absolute score cannot tell: a short note that answers scores less than a chat message that
//! does not. docs/retrieval.md ("The judge") has the meaning of each number and what is lost
//! without it. Not here: which result answers (`judge`).

use crate::search::judge::candidates::{Candidates, sigmoid};
use loci_base::model::encoding::SignCode;
use std::collections::BTreeMap;

/// Effective number of query terms above which more of them count no more.
const MAX_TERMS: f64 = 8.0;

/// The weights in the order of [`NAMES`].
const WEIGHTS: [f64; 8] = [2.8649, 2.5312, -0.6155, 0.9053, -3.0832, -2.5034, -0.9401, -3.0276];
const CONSTANT: f64 = -1.3132;

/// The names in an explanation.
const NAMES: [&str; 8] = [
    "cosine",
    "best_score",
    "log_memories",
    "log_terms",
    "foreign",
    "mark_lack",
    "id_lack",
    "unknown",
];

/// What speaks for an answer and against it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence([f64; 8]);

impl Evidence {
    /// Gathers the evidence; `codes` has the words of the first result.
    pub(super) fn gather(candidates: &Candidates<'_>, codes: &[SignCode]) -> Self {
        let first = 0;
        let terms = candidates.prepared.terms();
        let weight_of = |test: &dyn Fn(usize) -> bool| -> f64 {
            (0..terms.len()).filter(|at| test(*at)).map(|at| terms[at].weight).sum()
        };
        let has = |at: usize, term: usize| candidates.has[at][term];
        let own_has = |term: usize| {
            (0..candidates.has.len()).any(|at| candidates.is_of_asking[at] && has(at, term))
        };
        let is_foreign = !candidates.is_of_asking[first] && !candidates.is_preferred[first];
        let foreign =
            if is_foreign { weight_of(&|term| has(first, term) && !own_has(term)) } else { 0.0 };
        let identifiers = candidates.prepared.identifiers();
        let lacked = identifiers.iter().filter(|id| !candidates.occurs(first, id)).count() as f64;
        let matches = candidates.prepared.scorer.term_matches(codes);
        let unknown: f64 = terms
            .iter()
            .zip(matches)
            .enumerate()
            .filter(|(at, (term, _))| term.is_unknown && !has(first, *at))
            .map(|(_, (term, nearest))| term.weight * (1.0 - nearest))
            .sum();
        let best_score = candidates.scores.iter().copied().fold(0.0, f64::max);
        Self([
            candidates.first_cosine,
            best_score,
            (candidates.admitted.max(1) as f64).ln(),
            candidates.prepared.effective_terms().min(MAX_TERMS).ln(),
            foreign,
            weight_of(&|term| terms[term].is_mark && !has(first, term)),
            lacked / identifiers.len().max(1) as f64,
            unknown,
        ])
    }

    /// Returns how likely one of the best five results answers the query, 0 to 1.
    pub fn fit(&self) -> f64 {
        sigmoid(
            CONSTANT
                + self.0.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum::<f64>(),
        )
    }

    /// Returns the values by name.
    pub fn named(self) -> BTreeMap<String, f64> {
        NAMES.iter().zip(self.0).map(|(name, value)| ((*name).to_owned(), value + 0.0)).collect()
    }
}
