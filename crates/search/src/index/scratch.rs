//! Pooled per-query buffers with one entry per slot. Allocating them per query would cost more than
//! scoring.
//!
//! Not here: the scores that are written into them (`search::coarse_to_fine`).

use crate::index::bitmap::{has_bit, set_bit};
use crate::index::mask::Mask;
use loci_base::kernels;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of buffers in the pool: one for each reader thread.
const MAX_POOLED: usize = 2;

/// Precision of a cosine that was computed beyond its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Exact to 1e-3.
    Approx,
    /// Exact to a few 1e-6.
    Exact,
}

/// The buffers of one query; each vector has one entry or bit per slot.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// BM25 score divided by the ideal score of the query; may exceed 1.
    pub lexical: Vec<f32>,
    /// Cosines of the slots marked in `computed`. Other entries are those of earlier queries.
    pub cosines: Vec<f32>,
    /// Slots that match by a term or by their name, admitted or not.
    pub lexical_match: Vec<u64>,
    /// Slots whose cosine reaches the minimum for a match (`Calibration::match_cosine`).
    pub cosine_match: Vec<u64>,
    /// Slots whose cosine was computed with at least `Precision::Approx`, and those with
    /// `Precision::Exact`.
    computed: [Vec<u64>; 2],
    /// Estimated cosine of the best extra chunk; empty if no admitted memory has one.
    best_extra_chunk: Vec<f32>,
}

/// The pool of buffers.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Scratch>>);

impl ScratchPool {
    fn lock(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with cleared buffers from the pool, for `words` words of 64 slots, and returns
    /// its result.
    pub(crate) fn with_scratch<T>(&self, words: usize, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.lock().pop().unwrap_or_default();
        scratch.clear(words);
        let result = work(&mut scratch);
        let mut pool = self.lock();
        if pool.len() < MAX_POOLED {
            pool.push(scratch);
        }
        result
    }
}

impl Scratch {
    fn clear(&mut self, words: usize) {
        self.lexical.clear();
        self.lexical.resize(words * 64, 0.0);
        self.cosines.resize(words * 64, 0.0);
        let [approx, exact] = &mut self.computed;
        for bits in [&mut self.lexical_match, &mut self.cosine_match, approx, exact] {
            bits.clear();
            bits.resize(words, 0);
        }
        self.best_extra_chunk.clear();
    }

    /// Marks a memory as matching by a term or by its name.
    pub(crate) fn mark_lexical_match(&mut self, slot: usize) {
        set_bit(&mut self.lexical_match, slot);
    }

    /// Sets the cosine of a memory. The memory matches if its cosine reaches `match_cosine`.
    pub(crate) fn set_cosine(
        &mut self,
        slot: usize,
        cosine: f32,
        precision: Precision,
        match_cosine: f32,
    ) {
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        self.cosines[slot] = cosine;
        self.computed.iter_mut().take(precision as usize + 1).for_each(|bits| bits[word] |= bit);
        let matching = if cosine >= match_cosine { bit } else { 0 };
        self.cosine_match[word] = self.cosine_match[word] & !bit | matching;
    }

    /// Returns whether the cosine of a memory was computed with at least this precision.
    pub(crate) fn has_cosine(&self, slot: usize, precision: Precision) -> bool {
        has_bit(&self.computed[precision as usize], slot)
    }

    /// Returns whether a memory matches by a term, by its name or by its cosine.
    pub fn matches(&self, slot: usize) -> bool {
        has_bit(&self.lexical_match, slot) || has_bit(&self.cosine_match, slot)
    }

    /// Returns the number of admitted memories that match.
    pub(crate) fn matching_in(&self, mask: &Mask) -> usize {
        let matches = self.lexical_match.iter().zip(&self.cosine_match);
        matches
            .zip(mask.words())
            .map(|((lexical, cosine), admitted)| {
                ((lexical | cosine) & admitted).count_ones() as usize
            })
            .sum()
    }

    /// Returns the lexical score of a memory, at most 1.
    pub(crate) fn lexical_of(&self, slot: u32) -> f64 {
        f64::from(self.lexical[slot as usize].min(1.0))
    }

    /// Adds estimated cosines of extra chunks, and keeps the best one of each memory.
    pub(crate) fn add_extra_chunks(&mut self, estimates: impl Iterator<Item = (usize, f32)>) {
        for (slot, estimate) in estimates {
            self.best_extra_chunk.resize(self.lexical.len(), -1.0);
            self.best_extra_chunk[slot] = self.best_extra_chunk[slot].max(estimate);
        }
    }

    /// Returns the cosines of the 64 slots from `64 * number`; only those that were set are valid.
    pub(crate) fn cosines_of(&self, number: usize) -> [f32; 64] {
        self.cosines[number * 64..].first_chunk().copied().unwrap_or([0.0; 64])
    }

    /// Raises the estimates of the first chunks of 64 slots to that of each memory's best chunk.
    pub(crate) fn raise_to_best_chunks(
        &self,
        number: usize,
        mut estimates: [f32; 64],
    ) -> [f32; 64] {
        if let Some(extra) = self.best_extra_chunk.get(number * 64..number * 64 + 64) {
            estimates
                .iter_mut()
                .zip(extra)
                .for_each(|(estimate, extra)| *estimate = estimate.max(*extra));
        }
        estimates
    }

    /// Returns the weighted sums of cosine and lexical score of 64 memories.
    pub(crate) fn weighted_sums(
        &self,
        number: usize,
        cosines: &[f32; 64],
        weights: [f32; 2],
    ) -> [f32; 64] {
        let lexical = self.lexical[number * 64..].first_chunk();
        lexical.map_or([0.0; 64], |lexical| kernels::weighted_sums(cosines, lexical, weights))
    }
}
