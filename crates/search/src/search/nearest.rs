//! Nearest neighbours of a vector above a cosine threshold, and the nearest of all; storing uses it to
//! find duplicates, and what is new in a text.
//!
//! Not here: ranking (`exhaustive`, `coarse_to_fine`), what counts as a duplicate (`duplicate`).

use crate::index::{BinaryQuery, Index, Mask, QuantizedVector, slot_id, slots_of};
use crate::ranking::late_interaction;
use loci_base::model::encoding::Embedding;

/// Cosine from which [`nearest_cosine`] is exact; below, it may be an estimate.
const EXACT_FROM: f64 = 0.6;
/// Upper bound of the error of a cosine estimate; the usual error is a tenth of it.
const MAX_ESTIMATE_ERROR: f64 = 0.3;

/// The neighbours of a vector.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// Those above the threshold, by slot.
    pub above: Vec<(usize, f32)>,
    /// The cosine of the nearest one; where none may be above the threshold, its estimate. `None` if
    /// there is no memory.
    pub nearest: Option<f32>,
}

/// Returns the admitted memories whose cosine to a vector exceeds `threshold`, by slot. In a large
/// set, only memories whose estimate is high enough are compared exactly.
pub fn nearest(
    index: &Index,
    mask: &Mask,
    vector: &Embedding,
    threshold: f64,
) -> Vec<(usize, f32)> {
    neighbours(index, mask, vector, threshold).above
}

/// Returns the cosine of the nearest admitted memory; `None` if there is none.
pub fn nearest_cosine(index: &Index, mask: &Mask, vector: &Embedding) -> Option<f32> {
    neighbours(index, mask, vector, EXACT_FROM).nearest
}

/// Returns the neighbours of a vector among the admitted memories.
pub fn neighbours(index: &Index, mask: &Mask, vector: &Embedding, threshold: f64) -> Neighbours {
    let Candidates { slots, estimate } = if mask.count() <= late_interaction::EXHAUSTIVE_LIMIT {
        // Memories without a vector have no neighbours.
        let slots = mask.slots().filter(|slot| index.vector(*slot, 0).is_some());
        Candidates { slots: slots.map(slot_id).collect(), estimate: None }
    } else {
        possibly_above(index, mask, vector, threshold)
    };
    let cosines = index.cosines(&QuantizedVector::from(vector), &slots);
    let exact = cosines.iter().copied().reduce(f32::max);
    let above = slots
        .into_iter()
        .map(|slot| slot as usize)
        .zip(cosines)
        .filter(|(_, cosine)| f64::from(*cosine) > threshold)
        .collect();
    Neighbours { above, nearest: exact.or(estimate) }
}

/// The memories that are compared exactly.
struct Candidates {
    /// Sorted.
    slots: Vec<u32>,
    /// The highest estimate of all memories.
    estimate: Option<f32>,
}

/// The admitted slots whose cosine may exceed the threshold, given their estimate.
fn possibly_above(index: &Index, mask: &Mask, vector: &Embedding, threshold: f64) -> Candidates {
    let query = BinaryQuery::new(vector.as_slice());
    let mut highest: Option<f32> = None;
    let mut slots: Vec<u32> = Vec::new();
    let mut add = |slot: usize, estimate: f32| {
        highest = Some(highest.map_or(estimate, |highest| highest.max(estimate)));
        if f64::from(estimate) > threshold - MAX_ESTIMATE_ERROR {
            slots.push(slot_id(slot));
        }
    };
    for (block, admitted) in mask.words().iter().enumerate().filter(|(_, bits)| **bits != 0) {
        let estimates = index.estimate(&query, block);
        slots_of(block, *admitted).for_each(|slot| add(slot, estimates[slot % 64]));
    }
    index.estimate_extra_chunks(&query, mask).for_each(|(slot, estimate)| add(slot, estimate));
    slots.sort_unstable();
    slots.dedup();
    Candidates { slots, estimate: highest }
}
