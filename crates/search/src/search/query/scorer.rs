//! Prepares a query for scoring: weighted terms, and the date of an event that it refers to.
//!
//! Not here: the formulas (`ranking::late_interaction`).

use crate::index::{Index, Mask};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{QueryScorer, QueryTerm};
use crate::search::query::event_date;
use crate::search::query::prepared::PreparedQuery;
use crate::search::query::terms::weighted_terms;
use crate::search::types::SearchQuery;
use loci_base::model::encoding::QueryEncoding;

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
    let lookups =
        words.iter_mut().map(|of| (std::mem::take(&mut of.lookup), of.term.weight)).collect();
    let Some((event, day)) = event_date::resolve(index, mask, query, encoding) else {
        let terms: Vec<QueryTerm> = words.into_iter().map(|of| of.term).collect();
        return PreparedQuery::new(QueryScorer::new(text, &terms, query.today), lookups);
    };
    let describes_event = |word: &str| event.words.iter().any(|of_event| of_event == word);
    let terms = words.into_iter().map(|of| (of.word, of.term)).collect();
    let terms = late_interaction::down_weight(terms, describes_event);
    let scorer = QueryScorer::new(text, &terms, query.today).with_event(&event, day);
    PreparedQuery::new(scorer, lookups)
}
