//! Builds the [`QueryScorer`] of a query: weighted terms, and the date of an event that it refers
//! to.
//!
//! Not here: the formulas (`ranking::late_interaction`).

use crate::index::{Index, Mask};
use crate::model::encoding::QueryEncoding;
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{QueryScorer, QueryTerm};
use crate::search::query::event_date;
use crate::search::query::terms::weighted_terms;
use crate::search::types::SearchQuery;

/// A query prepared for scoring, with its words.
#[derive(Debug, Clone)]
pub(crate) struct PreparedQuery {
    pub scorer: QueryScorer,
    /// The content words, one per stem, with their weights; the sum of the weights is 1.
    words: Vec<(String, f64)>,
}

impl PreparedQuery {
    /// Returns the share of the weights of the words that pass a test, 0 to 1.
    pub(crate) fn covered(&self, test: impl Fn(&str) -> bool) -> f64 {
        self.words.iter().filter(|(word, _)| test(word)).map(|(_, weight)| weight).sum()
    }

    /// Returns 1 / (sum of the squared weights): for n words of equal weight it is n.
    pub(crate) fn effective_terms(&self) -> f64 {
        1.0 / self.words.iter().map(|(_, weight)| weight * weight).sum::<f64>().max(1e-9)
    }
}

/// Prepares a query for scoring. `doc_freq` returns how many admitted memories contain a word,
/// given its lookup terms.
pub(crate) fn query_scorer(
    index: &Index,
    mask: &Mask,
    query: &SearchQuery<'_>,
    encoding: &QueryEncoding,
    doc_freq: impl FnMut(&[String]) -> usize,
) -> PreparedQuery {
    let text = &query.parsed.text;
    let terms = weighted_terms(index, &encoding.words, mask.count(), doc_freq);
    let words = terms.iter().map(|(word, term)| ((*word).to_owned(), term.weight)).collect();
    let Some((event, day)) = event_date::resolve(index, mask, query, encoding) else {
        let terms: Vec<QueryTerm> = terms.into_iter().map(|(_, term)| term).collect();
        return PreparedQuery { scorer: QueryScorer::new(text, &terms, query.today), words };
    };
    let describes_event = |word: &str| event.words.iter().any(|of_event| of_event == word);
    let terms = late_interaction::down_weight(terms, describes_event);
    let scorer = QueryScorer::new(text, &terms, query.today).with_event(&event, day);
    PreparedQuery { scorer, words }
}
