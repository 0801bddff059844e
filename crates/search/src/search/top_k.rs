//! Streaming top-k selection without sorting.
//!
//! Scores above the current threshold are buffered. When the buffer holds 4k entries, a threshold
//! that about k of them exceed is found by bisection, and the rest is dropped. Not here: the scores
//! (`coarse_to_fine`).

use crate::index::{slot_id, slots_of};
use loci_base::kernels;

/// The buffer is pruned when it contains this many times the wanted number; pruning more often
/// costs more than it saves.
const BUFFER_FACTOR: usize = 4;
/// Upper bound of every score, where the bisection starts. Finding the actual maximum would take
/// another pass, and slots outside the mask would influence it.
pub(crate) const MAX_SCORE: f32 = 6.0;
/// Bisection steps after which the remaining interval is too small to tell scores apart.
const MAX_BISECTIONS: usize = 24;

/// How many entries a selection keeps: any number in this range.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    pub min: usize,
    pub max: usize,
}

impl Count {
    /// Exactly this many.
    pub fn exactly(count: usize) -> Self {
        Self { min: count, max: count }
    }

    /// This many, or up to a sixteenth more.
    pub fn about(count: usize) -> Self {
        Self { min: count, max: count + count / 16 }
    }
}

/// A threshold that about the wanted number of scores exceed.
#[derive(Debug)]
struct Threshold {
    score: f32,
    /// Fewer scores than the wanted number exceed this one.
    upper: f32,
    /// How many scores exceed `score`.
    above: usize,
}

/// A running selection of the best scores.
#[derive(Debug)]
pub(crate) struct TopK {
    count: Count,
    /// Number of buffered entries at which the buffer is pruned.
    capacity: usize,
    /// Scores up to this one can no longer be among the best.
    threshold: f32,
    slots: Vec<u32>,
    scores: Vec<f32>,
}

impl TopK {
    /// Selects as many entries as `count` says.
    pub fn new(count: Count) -> Self {
        let capacity = count.max.max(BUFFER_FACTOR * count.min);
        let allocated = capacity + 64;
        Self {
            count,
            capacity,
            threshold: 0.0,
            slots: Vec::with_capacity(allocated),
            scores: Vec::with_capacity(allocated),
        }
    }

    /// Pushes the scores of the 64 slots from `64 * block` on, as far as their bit in `admitted` is
    /// set.
    pub fn push(&mut self, block: usize, admitted: u64, scores: &[f32; 64]) {
        let kept = admitted & kernels::above(scores, self.threshold);
        if kept == u64::MAX {
            let first = slot_id(block * 64);
            self.slots.extend(first..first + 64);
            self.scores.extend_from_slice(scores);
        } else {
            for slot in slots_of(block, kept) {
                self.slots.push(slot_id(slot));
                self.scores.push(scores[slot % 64]);
            }
        }
        if self.slots.len() >= self.capacity {
            self.prune();
        }
    }

    /// Returns the slots of the best scores in the order in which they were pushed. Of equal scores
    /// the later ones are kept; scores of 0 or less never are.
    pub fn finish(mut self) -> Vec<u32> {
        self.prune();
        self.slots
    }

    /// Like [`Self::finish`], but also drops every entry scoring more than `margin` below the
    /// `count`-th best.
    pub(crate) fn finish_within(mut self, count: usize, margin: f32) -> Vec<u32> {
        let reference = self.bisect(Count::about(count)).score;
        self.threshold = self.threshold.max(reference - margin);
        self.prune();
        self.slots
    }

    /// Drops all but the best.
    fn prune(&mut self) {
        let Threshold { score, upper, above } = self.bisect(self.count);
        self.threshold = score;
        let surplus = if above > self.count.max { above - self.count.min } else { 0 };
        self.retain(upper, surplus);
    }

    /// Bisects for a threshold that between `count.min` and `count.max` scores exceed.
    fn bisect(&mut self, count: Count) -> Threshold {
        // The kernel reads 64 scores at once; a score of 0 is never above the threshold.
        self.scores.resize(self.slots.len().next_multiple_of(64), 0.0);
        let mut threshold = Threshold {
            score: self.threshold,
            upper: MAX_SCORE,
            above: self.count_above(self.threshold),
        };
        for _ in 0..MAX_BISECTIONS {
            if threshold.above <= count.max {
                break;
            }
            let middle = f32::midpoint(threshold.score, threshold.upper);
            let above = self.count_above(middle);
            if above >= count.min {
                (threshold.score, threshold.above) = (middle, above);
            } else {
                threshold.upper = middle;
            }
        }
        threshold
    }

    /// Number of buffered scores above this one.
    fn count_above(&self, score: f32) -> usize {
        self.scores
            .as_chunks()
            .0
            .iter()
            .map(|scores| kernels::above(scores, score).count_ones() as usize)
            .sum()
    }

    /// Drops scores up to the threshold, and of those between the threshold and `upper`, which
    /// count as equal, the first `surplus`.
    fn retain(&mut self, upper: f32, mut surplus: usize) {
        let mut kept = 0;
        for block in 0..self.scores.len() / 64 {
            let Some(scores) = self.scores[block * 64..].first_chunk::<64>() else { break };
            let mut bits = kernels::above(scores, self.threshold);
            if surplus > 0 {
                for at in slots_of(0, bits & !kernels::above(scores, upper)).take(surplus) {
                    bits &= !(1 << at);
                    surplus -= 1;
                }
            }
            for at in slots_of(block, bits) {
                (self.slots[kept], self.scores[kept]) = (self.slots[at], self.scores[at]);
                kept += 1;
            }
        }
        self.slots.truncate(kept);
        self.scores.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn pushed(scores: &[f32], admitted: &[u64], count: Count) -> TopK {
        let mut top = TopK::new(count);
        for (block, (bits, scores)) in admitted.iter().zip(scores.as_chunks().0).enumerate() {
            top.push(block, *bits, scores);
        }
        top
    }

    fn best(scores: &[f32], admitted: &[u64], count: Count) -> Vec<usize> {
        pushed(scores, admitted, count).finish().into_iter().map(|slot| slot as usize).collect()
    }

    proptest! {
        /// No dropped score is better than a selected one, and of equal scores the later ones are
        /// selected.
        #[test]
        fn the_best_are_selected_and_at_most_the_maximum(
            runs in prop::collection::vec((0..60_u16, 1..400_usize, any::<bool>()), 1..60),
            count in 1..3_000_usize, more in 0..200_usize, seed in any::<u64>(),
            (margin_rank, margin) in (1..200_usize, 0.0..0.5_f32),
        ) {
            let mut scores: Vec<f32> = Vec::new();
            for (level, length, equal) in &runs {
                let variation = |at: usize| (seed.wrapping_mul(at as u64 + 1) >> 40) as f32 / 1e9;
                scores.extend((0..*length).map(|at| f32::from(*level) / 40.0 - 0.2 + if *equal { 0.0 } else { variation(at) }));
            }
            scores.resize(scores.len().next_multiple_of(64), 9.0);
            let filled: usize = runs.iter().map(|(_, length, _)| length).sum();
            let bit = |slot: usize| u64::from(slot < filled && seed >> (slot % 61) & 1 == 0) << (slot % 64);
            let admitted: Vec<u64> = (0..scores.len() / 64).map(|word| (0..64).map(|at| bit(word * 64 + at)).sum()).collect();
            let bounds = Count { min: count, max: count + more };
            let chosen = best(&scores, &admitted, bounds);
            let mut expected: Vec<usize> = admitted.iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).filter(|slot| scores[*slot] > 0.0).collect();
            expected.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(b.cmp(a)));
            prop_assert!(chosen.len() >= count.min(expected.len()) && chosen.len() <= count + more);
            prop_assert!(chosen.is_sorted());
            expected.truncate(chosen.len());
            expected.sort_unstable();
            // Scores outside the mask have no influence.
            let is_masked = |slot: usize| admitted[slot / 64] >> (slot % 64) & 1 == 0;
            let changed: Vec<f32> = scores.iter().enumerate().map(|(slot, score)| if is_masked(slot) { 1.9 - score } else { *score }).collect();
            prop_assert_eq!(&best(&changed, &admitted, bounds), &chosen);
            // Scores within the last interval of the bisection count as equal.
            let lowest = |slots: &[usize]| slots.iter().map(|slot| scores[*slot]).fold(f32::MAX, f32::min);
            prop_assert!((lowest(&chosen) - lowest(&expected)).abs() < 1e-6, "{} {}", lowest(&chosen), lowest(&expected));
            // `finish_within` also drops those outside the margin, and no others.
            let within: HashSet<u32> = pushed(&scores, &admitted, bounds).finish_within(margin_rank, margin).into_iter().collect();
            let mut all: Vec<f32> = admitted.iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).map(|slot| scores[slot]).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            let score_at = |rank: usize| all.get(rank).copied().unwrap_or(0.0).max(0.0);
            let wanted = score_at(margin_rank - 1) - margin;
            let unwanted = score_at(margin_rank + margin_rank / 16) - margin;
            let is_wanted = |slot: &usize| scores[*slot] > wanted.max(score_at(count - 1)) + 1e-6;
            prop_assert!(within.len() <= count + more && within.iter().all(|slot| scores[*slot as usize] > unwanted - 1e-6));
            prop_assert!(chosen.iter().filter(|slot| is_wanted(slot)).all(|slot| within.contains(&slot_id(*slot))));
        }
    }
}
