//! Resolves an event that a query refers to ("before the release") to a day: that of the memory
//! that reports the event best.
//!
//! Not here: parsing (`text::dates`), the weight of a time (`ranking::late_interaction`).

use crate::index::{Index, Mask};
use crate::ranking::late_interaction::{QueryScorer, QueryTerm};
use crate::search::query::terms::{WeightedWord, weighted_terms};
use crate::search::types::SearchQuery;
use loci_base::model::encoding::{QueryEncoding, QueryWord};
use loci_base::text::dates::EventReference;
use loci_proto::memory::MemoryType;
use std::collections::BTreeSet;

/// Minimum word match of the event's terms (at most 1) for a memory to count as a report of it.
const MIN_EVENT_MATCH: f64 = 0.6;
/// Maximum number of memories that are compared with the event: those with the rarest terms first,
/// of each term the newest.
const MAX_COMPARED: usize = 4_000;

/// Returns the event that a query refers to and its day; `None` if there is no event, no memory
/// reports it, or the query also names a date.
pub fn resolve(
    index: &Index,
    mask: &Mask,
    query: &SearchQuery<'_>,
    encoding: &QueryEncoding,
) -> Option<(EventReference, i32)> {
    let event = EventReference::parse(&query.parsed.text, query.today)?;
    let words: Vec<QueryWord> =
        encoding.words.iter().filter(|word| event.words.contains(&word.text)).cloned().collect();
    let day = event_day(index, mask, &event, &words, query.today)?;
    Some((event, day))
}

/// A memory that may report the event.
struct Report {
    word_match: f64,
    day: i32,
    slot: usize,
}

/// The day of the memory that matches the terms of an event best; of equal matches the newest.
/// Questions and memories of future days are ignored. `None` if the best match is a rule rather
/// than a report: procedural, or with the preposition in its own text ("Before a release, run the
/// checks.").
fn event_day(
    index: &Index,
    mask: &Mask,
    event: &EventReference,
    words: &[QueryWord],
    today: i32,
) -> Option<i32> {
    let doc_freq =
        |terms: &[String]| index.words().list(terms).map_or(0, |list| list.count_in(mask));
    let words = weighted_terms(index, words, mask, doc_freq);
    let candidates = with_any_word(index, mask, &words);
    // The codes of a name match those of the same name, even if the model cannot read it.
    let terms: Vec<QueryTerm> =
        words.iter().map(|of| QueryTerm { legibility: 1.0, ..of.term }).collect();
    let scorer = QueryScorer::new("", &terms, today, index.calibration());
    let reports = candidates.into_iter().filter_map(|slot| {
        let features = index.text_features(slot);
        let day = features.day.filter(|day| *day <= today && !features.traits.is_question)?;
        Some(Report { word_match: scorer.word_match(index.codes(slot)?), day, slot })
    });
    let Report { word_match, day, slot } =
        reports.max_by(|a, b| a.word_match.total_cmp(&b.word_match).then(a.day.cmp(&b.day)))?;
    let has_preposition =
        || index.words().occurs(slot, &index.words().terms_of(&event.preposition));
    let is_rule = || index.entry(slot).kind == MemoryType::Procedural || has_preposition();
    (word_match >= MIN_EVENT_MATCH && !is_rule()).then_some(day)
}

/// Admitted memories that contain any of the words, at most [`MAX_COMPARED`].
fn with_any_word(index: &Index, mask: &Mask, words: &[WeightedWord<'_>]) -> BTreeSet<usize> {
    let mut rarest_first: Vec<&WeightedWord<'_>> =
        words.iter().filter(|of| of.term.weight > 0.0).collect();
    rarest_first.sort_by(|a, b| b.term.weight.total_cmp(&a.term.weight));
    let mut slots = BTreeSet::new();
    for WeightedWord { lookup, .. } in rarest_first {
        let Some(list) = index.words().list(lookup) else { continue };
        let remaining = MAX_COMPARED - slots.len();
        let newest_first = list.iter().rev().map(|(slot, _)| slot);
        slots.extend(newest_first.filter(|slot| mask.admits(*slot)).take(remaining));
    }
    slots
}
