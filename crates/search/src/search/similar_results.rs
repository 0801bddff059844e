//! Finds the better results that a result may repeat: by vectors and types alone, so that the texts of
//! unrelated results are never compared.
//!
//! Not here: the comparison of the texts (`collapse`, `repeats`).

use crate::index::{Index, Row, slot_id};
use crate::ranking::fusion::ScoredSlot;
use crate::search::repeats;

/// Cosine from which two texts may state the same fact.
pub const SAME_FACT_COSINE: f32 = 0.86;
/// Error bound of an approximate cosine. If a few components dominate, the error may be larger;
/// then both results are returned, which is harmless.
const APPROX_ERROR: f32 = 0.05;
/// Cosine from which two texts may have one pattern.
const PATTERN_COSINE: f32 = 0.75;

/// The better results that one result may repeat, by rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimilarResults {
    /// Those that may state the same fact.
    pub same_fact: Vec<usize>,
    /// Those that may have the same pattern.
    pub same_pattern: Vec<usize>,
}

/// For each result the better results that it may repeat.
pub fn similar_results(index: &Index, ranked: &[ScoredSlot]) -> Vec<SimilarResults> {
    let slots: Vec<u32> = ranked.iter().map(|entry| slot_id(entry.slot)).collect();
    (0..ranked.len()).map(|at| similar_to(index, slots[at], &slots[..at])).collect()
}

fn similar_to(index: &Index, one: u32, better: &[u32]) -> SimilarResults {
    let vector = index.vector(one as usize, 0).map(Row::to_owned_vector);
    // Only the few similar ones get an exact cosine.
    let approx = vector.as_ref().map(|vector| index.approx_cosines(vector, better));
    // Without a vector any text may be similar.
    let is_near = |at: usize, cosine: f32| approx.as_ref().is_none_or(|near| near[at] >= cosine);
    let is_same_fact = |at: usize| {
        // The vector of one chunk does not represent a longer text.
        let is_whole = |slot: u32| index.text_chunk_count(slot as usize) == 1;
        vector.as_ref().is_some_and(|vector| {
            is_near(at, SAME_FACT_COSINE - APPROX_ERROR)
                && is_whole(one)
                && is_whole(better[at])
                && index.cosines(vector, &[better[at]])[0] >= SAME_FACT_COSINE
        })
    };
    let features = |slot: u32| index.text_features(slot as usize);
    let kind = |slot: u32| index.kind(slot as usize);
    let is_of_one_project =
        |at: usize| index.group(one as usize) == index.group(better[at] as usize);
    let ranks = |test: &dyn Fn(usize) -> bool| (0..better.len()).filter(|at| test(*at)).collect();
    SimilarResults {
        same_fact: ranks(&|at| features(better[at]).same_text(features(one)) || is_same_fact(at)),
        same_pattern: ranks(&|at| {
            repeats::may_repeat(kind(one), kind(better[at]))
                && is_of_one_project(at)
                && is_near(at, PATTERN_COSINE)
        }),
    }
}
