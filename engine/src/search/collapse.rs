//! Groups results that state the same fact.
//!
//! Not here: duplicates when a memory is stored (`operations::store`), the comparison of two texts
//! (`duplicate`).

use crate::duplicate::same_fact;
use crate::index::{Index, Row, slot_id};
use crate::model::content::same_thing;
use crate::model::memory::Memory;
use crate::ranking::fusion::ScoredSlot;
use loci_proto::memory::MemoryType;

/// Cosine from which two texts may state the same fact.
const SAME_FACT_COSINE: f32 = 0.97;
/// Error bound of an approximate cosine. If a few components dominate, the error may be larger;
/// then both results are returned, which is harmless.
const APPROX_ERROR: f32 = 0.05;
/// Number of results fetched beyond the limit, to replace those that are collapsed.
pub(crate) const SPARE: usize = 10;

/// For each result the indices of better results that may state the same fact.
pub(crate) fn possible_duplicates(index: &Index, ranked: &[ScoredSlot]) -> Vec<Vec<usize>> {
    let slots: Vec<u32> = ranked.iter().map(|entry| slot_id(entry.slot)).collect();
    let duplicates = |at: usize| {
        let similar = similar(index, slots[at], &slots[..at]);
        let features = |at: usize| index.text_features(ranked[at].slot);
        let same_text = |better: usize| features(better).same_text(features(at));
        (0..at).filter(|better| similar[*better] || same_text(*better)).collect()
    };
    (0..ranked.len()).map(duplicates).collect()
}

/// For each of `others`, whether its cosine to `one` is that of the same fact. Only texts of one
/// chunk are compared, because the vector of one chunk does not represent a longer text.
fn similar(index: &Index, one: u32, others: &[u32]) -> Vec<bool> {
    let only_chunk = |slot: u32| {
        index.vector(slot as usize, 0).filter(|_| index.chunk_count(slot as usize) == 1)
    };
    let Some(vector) = only_chunk(one).map(Row::to_owned_vector) else {
        return vec![false; others.len()];
    };
    // Only the few similar ones get an exact cosine.
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

/// Whether one of two similar memories can represent both: same fact, same event date, and both or
/// neither of them an entity.
pub(crate) fn is_same_fact(a: &Memory, b: &Memory) -> bool {
    let is_entity = |memory: &Memory| memory.kind == MemoryType::Entity;
    let event_date = |memory: &Memory| memory.metadata.get("event_date").cloned();
    is_entity(a) == is_entity(b)
        && event_date(a) == event_date(b)
        && same_thing(&a.metadata, &b.metadata)
        && same_fact(&a.content, &b.content)
}
