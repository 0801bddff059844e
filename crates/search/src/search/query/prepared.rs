//! A query as it is scored: its formulas, and the weights of its words.
//!
//! Not here: preparing it (`scorer`), the formulas (`ranking::late_interaction`).

use crate::ranking::late_interaction::QueryScorer;

/// A query prepared for scoring, with its words.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    /// Scores a memory by the words of the query.
    pub scorer: QueryScorer,
    /// The lookup terms and the weight of each content word, one per stem; the sum of the weights is
    /// 1.
    words: Vec<(Vec<String>, f64)>,
}

impl PreparedQuery {
    /// Creates it from the scorer, and the lookup terms and weights of the words.
    pub fn new(scorer: QueryScorer, words: Vec<(Vec<String>, f64)>) -> Self {
        Self { scorer, words }
    }

    /// Returns the share of the weights of the words that pass a test, 0 to 1.
    pub fn covered(&self, test: impl Fn(&[String]) -> bool) -> f64 {
        self.words.iter().filter(|(terms, _)| test(terms)).map(|(_, weight)| weight).sum()
    }

    /// Returns 1 / (sum of the squared weights): for n words of equal weight it is n.
    pub(crate) fn effective_terms(&self) -> f64 {
        1.0 / self.words.iter().map(|(_, weight)| weight * weight).sum::<f64>().max(1e-9)
    }
}
