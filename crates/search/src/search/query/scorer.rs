//! Prepares a query for scoring: weighted terms, and the date of an event that it refers to.
//!
//! Not here: the formulas (`ranking::late_interaction`).

use crate::index::{Index, Mask};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{QueryScorer, QueryTerm};
use crate::search::query::event_date;
use crate::search::query::marks::Marks;
use crate::search::query::prepared::{PreparedQuery, PreparedTerm};
use crate::search::query::terms::{WeightedWord, weighted_terms};
use crate::search::types::SearchQuery;
use loci_base::model::encoding::QueryEncoding;
use loci_base::text::tokenize;

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
    let mut words = weighted_terms(index, &encoding.words, mask.count(), doc_freq);
    let marks = Marks::of(text);
    let identifiers = marks.identifiers.iter().map(|word| index.words().terms_of(word)).collect();
    let prepared = |of: &mut WeightedWord<'_>| PreparedTerm {
        word: tokenize::lower(of.word),
        lookup: std::mem::take(&mut of.lookup),
        weight: of.term.weight,
        is_mark: marks.is_mark(of.word),
        is_unknown: of.doc_freq == 0,
    };
    let prepared: Vec<PreparedTerm> = words.iter_mut().map(prepared).collect();
    let Some((event, day)) = event_date::resolve(index, mask, query, encoding) else {
        let terms: Vec<QueryTerm> = words.into_iter().map(|of| of.term).collect();
        let scorer = QueryScorer::new(text, &terms, query.today);
        return PreparedQuery::new(scorer, prepared, identifiers);
    };
    let describes_event = |word: &str| event.words.iter().any(|of_event| of_event == word);
    let terms = words.into_iter().map(|of| (of.word, of.term)).collect();
    let terms = late_interaction::down_weight(terms, describes_event);
    let scorer = QueryScorer::new(text, &terms, query.today).with_event(&event, day);
    PreparedQuery::new(scorer, prepared, identifiers)
}
