//! Room for one number of every memory, kept from question to question: making it anew would cost more than what is done in it.
//!
//! Not here: what is put into it (`search::wide`).

use crate::index::{Index, Mask};
use crate::kernels;
use std::sync::{Mutex, PoisonError};

/// How many are kept; as many questions at once find one each.
const MAX_POOLED: usize = 2;

/// How well a cosine is known, beyond an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// To a thousandth.
    Approx,
    /// To a few millionths.
    Exact,
}

/// One number of every memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// BM25 as a share of the ideal; it may be above 1.
    pub lexical: Vec<f32>,
    /// The cosines of those whose cosines are known; those of the rest are of earlier questions.
    pub cosines: Vec<f32>,
    /// One bit for each that matches by a word or by its name, admitted or not.
    pub lexical_match: Vec<u64>,
    /// One bit for each that matches by meaning.
    pub near: Vec<u64>,
    /// One bit for each whose cosine is known nearly, and one for each of which it is known exactly.
    known: [Vec<u64>; 2],
    /// Roughly the cosine of the best piece but the first; empty where nothing has more than one.
    best_extra_chunk: Vec<f32>,
}

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Vec<Scratch>>);

impl Kept {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    /// Does something with room for one number of every memory.
    pub(crate) fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.scratch.list().pop().unwrap_or_default();
        scratch.clear(self.len().div_ceil(64));
        let done = work(&mut scratch);
        let mut kept = self.scratch.list();
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

    /// Notes that a memory matches by a word or by its name.
    pub(crate) fn mark_lexical_match(&mut self, slot: usize) {
        self.lexical_match[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes in a better cosine of a memory; one that reaches `least` matches by meaning.
    pub(crate) fn set(&mut self, slot: usize, cosine: f32, known: Precision, least: f32) {
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        self.cosines[slot] = cosine;
        self.known.iter_mut().take(known as usize + 1).for_each(|bits| bits[word] |= bit);
        self.near[word] = self.near[word] & !bit | if cosine >= least { bit } else { 0 };
    }

    /// Whether the cosine of a memory is known so well.
    pub(crate) fn knows(&self, slot: usize, known: Precision) -> bool {
        self.known[known as usize][slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Whether a memory matches.
    pub(crate) fn matches(&self, slot: usize) -> bool {
        (self.lexical_match[slot / 64] | self.near[slot / 64]) >> (slot % 64) & 1 == 1
    }

    /// How many admitted memories match.
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

    /// BM25 as a share of the ideal, at most 1.
    pub(crate) fn lexical_of(&self, slot: u32) -> f64 {
        f64::from(self.lexical[slot as usize].min(1.0))
    }

    /// Takes in what other pieces than the first are like.
    pub(crate) fn others(&mut self, estimates: impl Iterator<Item = (usize, f32)>) {
        for (slot, estimate) in estimates {
            self.best_extra_chunk.resize(self.lexical.len(), -1.0);
            self.best_extra_chunk[slot] = self.best_extra_chunk[slot].max(estimate);
        }
    }

    /// The cosines of 64 slots, as far as they are known.
    pub(crate) fn cosines_of(&self, number: usize) -> [f32; 64] {
        self.cosines[number * 64..].first_chunk().copied().unwrap_or([0.0; 64])
    }

    /// 64 estimates, each made that of the best piece.
    pub(crate) fn with_others(&self, number: usize, mut estimates: [f32; 64]) -> [f32; 64] {
        if let Some(others) = self.best_extra_chunk.get(number * 64..number * 64 + 64) {
            estimates
                .iter_mut()
                .zip(others)
                .for_each(|(estimate, other)| *estimate = estimate.max(*other));
        }
        estimates
    }

    /// What 64 memories are worth by their cosines and their texts.
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
