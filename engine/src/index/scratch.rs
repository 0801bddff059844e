//! Pooled per-query buffers with one lane per slot. Allocating them per query would cost more than scoring.
//!
//! Not here: what is put into it (`search::coarse_to_fine`).

use crate::index::bitmap::{has_bit, set_bit};
use crate::index::mask::Mask;
use crate::kernels;
use std::sync::{Mutex, PoisonError};

/// Buffers in the pool: one for each reader thread.
const MAX_POOLED: usize = 2;

/// Precision of a cosine that was computed beyond its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
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
    /// Cosines of the slots marked in `known`. Other entries are left over from earlier queries.
    pub cosines: Vec<f32>,
    /// Slots that match by a term or a speaker name, admitted or not.
    pub lexical_match: Vec<u64>,
    /// Slots whose cosine reaches the minimum for a match (`MATCH_COSINE`).
    pub near: Vec<u64>,
    /// Slots whose cosine is known at least at `Precision::Approx`, and those at `Precision::Exact`.
    known: [Vec<u64>; 2],
    /// Estimated cosine of the best extra chunk; empty if no admitted memory has one.
    best_extra_chunk: Vec<f32>,
}

/// The pool of buffers.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Scratch>>);

impl ScratchPool {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScratchPool {
    /// Calls `work` with cleared buffers for `words` words of 64 slots from the pool.
    pub(crate) fn with_scratch<T>(&self, words: usize, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.list().pop().unwrap_or_default();
        scratch.clear(words);
        let done = work(&mut scratch);
        let mut kept = self.list();
        if kept.len() < MAX_POOLED {
            kept.push(scratch);
        }
        done
    }
}

impl Scratch {
    fn clear(&mut self, words: usize) {
        self.lexical.clear();
        self.lexical.resize(words * 64, 0.0);
        self.cosines.resize(words * 64, 0.0);
        let [nearly, exactly] = &mut self.known;
        for bits in [&mut self.lexical_match, &mut self.near, nearly, exactly] {
            bits.clear();
            bits.resize(words, 0);
        }
        self.best_extra_chunk.clear();
    }

    /// Marks a memory as matching by a term or a speaker name.
    pub(crate) fn mark_lexical_match(&mut self, slot: usize) {
        set_bit(&mut self.lexical_match, slot);
    }

    /// Sets the cosine of a memory. It matches if it reaches `least`.
    pub(crate) fn set(&mut self, slot: usize, cosine: f32, known: Precision, least: f32) {
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        self.cosines[slot] = cosine;
        self.known.iter_mut().take(known as usize + 1).for_each(|bits| bits[word] |= bit);
        self.near[word] = self.near[word] & !bit | if cosine >= least { bit } else { 0 };
    }

    /// Returns whether the cosine of a memory is known at this precision.
    pub(crate) fn knows(&self, slot: usize, known: Precision) -> bool {
        has_bit(&self.known[known as usize], slot)
    }

    /// Returns whether a memory matches.
    pub(crate) fn matches(&self, slot: usize) -> bool {
        has_bit(&self.lexical_match, slot) || has_bit(&self.near, slot)
    }

    /// Returns the number of admitted memories that match.
    pub(crate) fn matching_in(&self, mask: &Mask) -> usize {
        let matching = self
            .lexical_match
            .iter()
            .zip(&self.near)
            .map(|(lexical_match, near)| lexical_match | near);
        matching
            .zip(mask.words())
            .map(|(matching, admitted)| (matching & admitted).count_ones() as usize)
            .sum()
    }

    /// Returns the lexical score of a memory, at most 1.
    pub(crate) fn lexical_of(&self, slot: u32) -> f64 {
        f64::from(self.lexical[slot as usize].min(1.0))
    }

    /// Adds estimated cosines of extra chunks, and keeps the best of each memory.
    pub(crate) fn others(&mut self, estimates: impl Iterator<Item = (usize, f32)>) {
        for (slot, estimate) in estimates {
            self.best_extra_chunk.resize(self.lexical.len(), -1.0);
            self.best_extra_chunk[slot] = self.best_extra_chunk[slot].max(estimate);
        }
    }

    /// Returns the cosines of the 64 slots from `64 * number`; only those marked as known are valid.
    pub(crate) fn cosines_of(&self, number: usize) -> [f32; 64] {
        self.cosines[number * 64..].first_chunk().copied().unwrap_or([0.0; 64])
    }

    /// Raises the estimates of 64 first chunks to those of the best chunk of each memory.
    pub(crate) fn with_others(&self, number: usize, mut estimates: [f32; 64]) -> [f32; 64] {
        if let Some(others) = self.best_extra_chunk.get(number * 64..number * 64 + 64) {
            estimates
                .iter_mut()
                .zip(others)
                .for_each(|(estimate, other)| *estimate = estimate.max(*other));
        }
        estimates
    }

    /// Returns the weighted sums of cosine and lexical score of 64 memories.
    pub(crate) fn weighed(
        &self,
        number: usize,
        cosines: &[f32; 64],
        weights: [f32; 2],
    ) -> [f32; 64] {
        let lexical = self.lexical[number * 64..].first_chunk();
        lexical.map_or([0.0; 64], |lexical| kernels::weighed(cosines, lexical, weights))
    }
}
