//! Nearest neighbours of a vector above a cosine threshold; storing uses it to find duplicates.
//!
//! Not here: ranking (`exhaustive`, `coarse_to_fine`), what counts as a duplicate (`duplicate`).

use crate::index::{BinaryQuery, Index, Mask, QuantizedVector, slot_id, slots_of};
use crate::model::encoding::Embedding;
use crate::ranking::late_interaction;

/// Upper bound of the error of a cosine estimate; the usual error is a tenth of it.
const MAX_ESTIMATE_ERROR: f64 = 0.3;

/// Returns the admitted memories whose cosine to a vector exceeds `threshold`, by slot. In a large
/// set, only memories whose estimate is high enough are compared exactly.
pub(crate) fn nearest(
    index: &Index,
    mask: &Mask,
    vector: &Embedding,
    threshold: f64,
) -> Vec<(usize, f32)> {
    let slots: Vec<u32> = if mask.count() <= late_interaction::EXHAUSTIVE_LIMIT {
        mask.slots().map(slot_id).collect()
    } else {
        possibly_above(index, mask, vector, threshold)
    };
    let cosines = index.cosines(&QuantizedVector::from(vector), &slots);
    slots
        .into_iter()
        .map(|slot| slot as usize)
        .zip(cosines)
        .filter(|(_, cosine)| f64::from(*cosine) > threshold)
        .collect()
}

/// The admitted slots whose cosine may exceed the threshold, given their estimate; sorted.
fn possibly_above(index: &Index, mask: &Mask, vector: &Embedding, threshold: f64) -> Vec<u32> {
    let query = BinaryQuery::new(vector.as_slice());
    let is_possible = |estimate: f32| f64::from(estimate) > threshold - MAX_ESTIMATE_ERROR;
    let mut slots: Vec<u32> = Vec::new();
    for (block, admitted) in mask.words().iter().enumerate().filter(|(_, bits)| **bits != 0) {
        let estimates = index.estimate(&query, block);
        let possible = slots_of(block, *admitted).filter(|slot| is_possible(estimates[slot % 64]));
        slots.extend(possible.map(slot_id));
    }
    let extra = index.estimate_extra_chunks(&query, mask);
    slots.extend(
        extra.filter(|(_, estimate)| is_possible(*estimate)).map(|(slot, _)| slot_id(slot)),
    );
    slots.sort_unstable();
    slots.dedup();
    slots
}
