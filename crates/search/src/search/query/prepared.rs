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
    /// It is part of a time that the query names, which every memory of that time has.
    pub is_time: bool,
    /// No admitted memory contains it.
    pub is_unknown: bool,
}

/// A word of a query with a digit or of one letter, stop words too.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifier {
    /// The terms by which it is looked up.
    pub lookup: Vec<String>,
    /// As [`PreparedTerm::is_time`].
    pub is_time: bool,
}

/// A query prepared for scoring, with its words.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    /// Scores a memory by the words of the query.
    pub scorer: QueryScorer,
    terms: Vec<PreparedTerm>,
    identifiers: Vec<Identifier>,
}

impl PreparedQuery {
    /// Creates it from the scorer, the content words, one per stem, and the identifiers.
    pub fn new(
        scorer: QueryScorer,
        terms: Vec<PreparedTerm>,
        identifiers: Vec<Identifier>,
    ) -> Self {
        Self { scorer, terms, identifiers }
    }

    /// The content words, in the order of the scorer's terms.
    pub(crate) fn terms(&self) -> &[PreparedTerm] {
        &self.terms
    }

    pub(crate) fn identifiers(&self) -> &[Identifier] {
        &self.identifiers
    }

    /// Returns 1 / (sum of the squared weights): for n words of equal weight it is n.
    pub(crate) fn effective_terms(&self) -> f64 {
        1.0 / self.terms.iter().map(|term| term.weight * term.weight).sum::<f64>().max(1e-9)
    }
}
