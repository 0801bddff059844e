//! Groups results that state the same fact.
//!
//! Not here: duplicates at the time of storing (`operations::store`), when two texts state the same
//! fact (`duplicate`).

use crate::duplicate::same_fact;
use crate::index::{Index, slot_id};
use crate::model::content::same_thing;
use crate::model::memory::Memory;
use crate::ranking::fusion::ScoredSlot;
use loci_proto::memory::MemoryType;

/// Cosine from which two texts may state the same fact.
const SAME_FACT_COSINE: f32 = 0.97;
/// Error bound of an approximate cosine. It may be exceeded if a few components dominate; then both
/// results are returned, which does no harm.
const APPROX_ERROR: f32 = 0.05;
/// Results fetched beyond the limit, so that others can move up.
pub(crate) const SPARE: usize = 10;

/// For each result the indices of better results that may state the same fact.
pub(crate) fn possible_duplicates(index: &Index, ranked: &[ScoredSlot]) -> Vec<Vec<usize>> {
    let slots: Vec<u32> = ranked.iter().map(|entry| slot_id(entry.slot)).collect();
    let duplicates = |at: usize| {
        let similar = similar(index, slots[at], &slots[..at]);
        let features = |at: usize| index.text_features(ranked[at].slot);
        let same_text = |before: usize| features(before).same_text(features(at));
        (0..at).filter(|before| similar[*before] || same_text(*before)).collect()
    };
    (0..ranked.len()).map(duplicates).collect()
}

/// For each of `others` whether its vector is that of the same fact as `one`. Only texts of one
/// chunk are compared: one chunk says nothing about the rest of a longer text.
fn similar(index: &Index, one: u32, others: &[u32]) -> Vec<bool> {
    let only_chunk = |slot: u32| {
        index.vector(slot as usize, 0).filter(|_| index.chunk_count(slot as usize) == 1)
    };
    let Some(vector) = only_chunk(one).map(|row| row.stepped()) else {
        return vec![false; others.len()];
    };
    // Few are similar; only those get an exact cosine.
    let approx = index.approx_cosines(&vector, others).into_iter();
    let exact = |slot: u32| index.cosines(&vector, &[slot])[0];
    approx
        .zip(others)
        .map(|(cosine, slot)| {
            cosine >= SAME_FACT_COSINE - APPROX_ERROR
                && only_chunk(*slot).is_some()
                && exact(*slot) >= SAME_FACT_COSINE
        })
        .collect()
}

/// Whether one of two similar memories can represent both: same fact, same event date,
/// and both or neither of them an entity.
pub(crate) fn is_same_fact(a: &Memory, b: &Memory) -> bool {
    let entity = |memory: &Memory| memory.kind == MemoryType::Entity;
    let day = |memory: &Memory| memory.metadata.get("event_date").cloned();
    entity(a) == entity(b)
        && day(a) == day(b)
        && same_thing(&a.metadata, &b.metadata)
        && same_fact(&a.content, &b.content)
}
