//! What the models of the judge look at: the best results, and the words of the query in each.
//!
//! Not here: the models (`evidence`, `versions`).

use crate::index::{Index, Mask, QuantizedVector, slot_id};
use crate::ranking::fusion::ScoredSlot;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::prepared::{Identifier, PreparedQuery, PreparedTerm};
use loci_base::model::encoding::QueryEncoding;
use std::collections::HashMap;

/// Number of best results among which the judge chooses.
pub(crate) const CANDIDATES: usize = 40;
/// Rarity is counted as among at least this many memories: that every text of three has a word does
/// not make it a common one.
const MIN_MEMORIES: usize = 20;

/// What is judged.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub index: &'a Index,
    /// The admitted memories.
    pub mask: &'a Mask,
    pub encoding: &'a QueryEncoding,
    pub prepared: &'a PreparedQuery,
    pub projects: &'a ProjectPreference,
    /// The results, best first.
    pub ranked: &'a [ScoredSlot],
    /// What boosts added to the score of a slot.
    pub boost: &'a dyn Fn(usize) -> f64,
    /// Whether a memory may replace another one, by their sequence numbers.
    pub may_replace: &'a dyn Fn(i64, i64) -> bool,
}

/// The logistic function.
pub(super) fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// The best results with what the models look at. Positions are those of the results.
pub(super) struct Candidates<'a> {
    pub index: &'a Index,
    mask: &'a Mask,
    pub prepared: &'a PreparedQuery,
    pub slots: Vec<usize>,
    /// The scores without boosts and without what the length of the query added.
    pub scores: Vec<f64>,
    /// Cosine of the first result and the query, times how much of the query the model can read; 1
    /// if the query is only a time, and the result is of it.
    pub first_cosine: f64,
    pub is_of_asking: Vec<bool>,
    pub is_preferred: Vec<bool>,
    /// Whether each result is of a time that the query names.
    is_of_time: Vec<bool>,
    /// Whether each term of the query occurs in each text.
    pub has: Vec<Vec<bool>>,
    pub admitted: usize,
}

impl<'a> Candidates<'a> {
    pub fn new(input: &Judged<'a>) -> Self {
        let Judged { index, mask, encoding, prepared, projects, ranked, boost, .. } = *input;
        let best = &ranked[..ranked.len().min(CANDIDATES)];
        let slots: Vec<usize> = best.iter().map(|entry| entry.slot).collect();
        let words = index.words();
        let preferred: HashMap<u32, &[String]> = projects.preferred(index).collect();
        let naming = |slot: usize| preferred.get(&index.group(slot)).copied().unwrap_or_default();
        // A project's memories need not repeat its name, nor those of a day its date.
        let has = |(slot, is_of_time): (&usize, &bool)| {
            let is_in = |term: &PreparedTerm| {
                term.is_time && *is_of_time
                    || naming(*slot).contains(&term.word)
                    || words.occurs(*slot, &term.lookup)
            };
            prepared.terms().iter().map(is_in).collect()
        };
        let days: Vec<Option<i32>> = slots.iter().map(|slot| index.day_of_event(*slot)).collect();
        let proximity = prepared.scorer.date_proximity(&days);
        let is_of_time: Vec<bool> = proximity.iter().map(|near| *near >= 1.0).collect();
        let numbers: Vec<u32> = slots.iter().map(|slot| slot_id(*slot)).collect();
        let cosines = index.cosines(&QuantizedVector::from(&encoding.vector), &numbers);
        // The cosine counts more for a long query; that alone makes no answer.
        let for_length =
            |cosine: &f32| prepared.scorer.length_bonus() * f64::from(*cosine).max(0.0);
        let score = |(entry, cosine): (&ScoredSlot, &f32)| {
            entry.score - boost(entry.slot) - for_length(cosine)
        };
        let first_cosine =
            prepared.scorer.legibility() * cosines.first().copied().map_or(0.0, f64::from);
        let is_answer = prepared.scorer.is_only_time() && is_of_time.first() == Some(&true);
        let is_of_asking = |slot: &usize| projects.is_asking(index, index.group(*slot));
        Self {
            scores: best.iter().zip(&cosines).map(score).collect(),
            first_cosine: if is_answer { 1.0 } else { first_cosine },
            is_of_asking: slots.iter().map(is_of_asking).collect(),
            is_preferred: slots
                .iter()
                .map(|slot| preferred.contains_key(&index.group(*slot)))
                .collect(),
            has: slots.iter().zip(&is_of_time).map(has).collect(),
            is_of_time,
            admitted: mask.count(),
            index,
            mask,
            prepared,
            slots,
        }
    }

    /// Returns whether a text contains an identifier.
    pub fn occurs(&self, at: usize, id: &Identifier) -> bool {
        id.is_time && self.is_of_time[at] || self.index.words().occurs(self.slots[at], &id.lookup)
    }

    /// Returns how rare a term that two texts have is, by its number.
    pub fn rarity(&self, term: u32) -> f64 {
        rarity(self.index.words().count_of(term, self.mask), self.admitted)
    }
}

/// Returns how rare a term is that `count` of these memories have: its idf divided by the idf of a
/// term of two memories. So it means the same in a small store.
pub(super) fn rarity(count: usize, memories: usize) -> f64 {
    let memories = memories.max(MIN_MEMORIES) as f64;
    let idf = |count: f64| ((memories + 1.0) / (count + 0.5)).ln();
    idf(count.max(2) as f64) / idf(2.0)
}
