//! A query as it is scored: its formulas, and what is known of its words.
//!
//! Not here: preparing it (`scorer`), the formulas (`ranking::late_interaction`).

use crate::ranking::late_interaction::QueryScorer;

/// A content word of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedTerm {
    /// The word in lower case.
    pub word: String,
    /// The terms by which it is looked up.
    pub lookup: Vec<String>,
    /// Its weight; the sum of all is 1.
    pub weight: f64,
    /// It is a name or a code: it has a digit, or a capital inside the query.
    pub is_mark: bool,
    /// No admitted memory contains it.
    pub is_unknown: bool,
}

/// A query prepared for scoring, with its words.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    /// Scores a memory by the words of the query.
    pub scorer: QueryScorer,
    terms: Vec<PreparedTerm>,
    identifiers: Vec<Vec<String>>,
}

impl PreparedQuery {
    /// Creates it from the scorer, the content words, one per stem, and the lookup terms of the
    /// identifiers.
    pub fn new(
        scorer: QueryScorer,
        terms: Vec<PreparedTerm>,
        identifiers: Vec<Vec<String>>,
    ) -> Self {
        Self { scorer, terms, identifiers }
    }

    /// The content words, in the order of the scorer's terms.
    pub(crate) fn terms(&self) -> &[PreparedTerm] {
        &self.terms
    }

    /// The lookup terms of the words with a digit or of one letter, stop words too.
    pub(crate) fn identifiers(&self) -> &[Vec<String>] {
        &self.identifiers
    }

    /// Returns 1 / (sum of the squared weights): for n words of equal weight it is n.
    pub(crate) fn effective_terms(&self) -> f64 {
        1.0 / self.terms.iter().map(|term| term.weight * term.weight).sum::<f64>().max(1e-9)
    }
}
