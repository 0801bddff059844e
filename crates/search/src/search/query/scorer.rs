//! Prepares a query for scoring: weighted terms, and the date of an event that it refers to.
//!
//! Not here: the formulas (`ranking::late_interaction`).

use crate::index::{Index, Mask};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::QueryScorer;
use crate::search::query::event_date;
use crate::search::query::marks::Marks;
use crate::search::query::prepared::{Identifier, PreparedQuery, PreparedTerm};
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
    let mut words = weighted_terms(index, &encoding.words, mask, doc_freq);
    let event = event_date::resolve(index, mask, query, encoding);
    let terms = words.iter().map(|of| (of.word, of.term)).collect();
    let describes_event =
        |word: &str| event.iter().any(|(event, _)| event.words.iter().any(|of| of == word));
    let terms = late_interaction::down_weight(terms, describes_event);
    let mut scorer = QueryScorer::new(text, &terms, query.today, index.calibration());
    let marks = Marks::of(text);
    let identifier = |word: &String| Identifier {
        lookup: index.words().terms_within(word, mask),
        is_time: scorer.dates().covers(word),
    };
    let identifiers = marks.identifiers.iter().map(identifier).collect();
    let prepared = |of: &mut WeightedWord<'_>| {
        let word = tokenize::lower(of.word);
        PreparedTerm {
            is_time: scorer.dates().covers(&word),
            word,
            lookup: std::mem::take(&mut of.lookup),
            weight: of.term.weight,
            is_mark: marks.is_mark(of.word),
            is_unknown: of.doc_freq == 0,
        }
    };
    let prepared: Vec<PreparedTerm> = words.iter_mut().map(prepared).collect();
    scorer.set_only_time(prepared.iter().all(|term| term.is_time));
    if let Some((event, day)) = &event {
        scorer = scorer.with_event(event, *day);
    }
    PreparedQuery::new(scorer, prepared, identifiers)
}
