//! The best of many numbers as they come, chosen without sorting.
//!
//! Whatever is above the least that can still be among them is kept; once that is four times as many as are wanted, the number is looked for
//! that as many as are wanted are above, and it is the least from then on. Not here: what the numbers are worth (`wide`).

use crate::index::{slot_id, slots_of};
use crate::kernels;

/// So many times as many as are wanted are kept before the best of them are chosen: choosing oftener costs more than it keeps out.
const KEPT: usize = 4;
/// No number is greater. What the greatest one is would be another pass, and those that do not count would have a say in it.
pub(crate) const MOST: f32 = 4.0;
/// How often a span is halved at most: nothing tells apart what is left in it then.
const HALVINGS: usize = 24;

/// A number that about as many as are wanted are above.
#[derive(Debug)]
struct Level {
    least: f32,
    /// Fewer than are wanted are above this one.
    high: f32,
    /// How many are above the least.
    above: usize,
}

/// The best so far.
#[derive(Debug)]
pub(crate) struct Best {
    /// How many are wanted at least; and at most, if that is quicker to choose.
    count: (usize, usize),
    /// Once so many are kept, the best of them are chosen.
    full: usize,
    /// What is not above this one is not among them.
    least: f32,
    slots: Vec<u32>,
    numbers: Vec<f32>,
}

impl Best {
    /// As many as the first of `count` says, or more, up to the second.
    pub(crate) fn new(count: (usize, usize)) -> Self {
        let full = count.1.max(KEPT * count.0);
        let room = full + 64;
        Self {
            count,
            full,
            least: 0.0,
            slots: Vec::with_capacity(room),
            numbers: Vec::with_capacity(room),
        }
    }

    /// Offers the numbers of 64 slots, the first of which is 64 times `number`, as far as they have a bit among these.
    pub(crate) fn offer(&mut self, number: usize, among: u64, numbers: &[f32; 64]) {
        let among = among & kernels::above(numbers, self.least);
        if among == u64::MAX {
            let first = slot_id(number * 64);
            self.slots.extend(first..first + 64);
            self.numbers.extend_from_slice(numbers);
        } else {
            for slot in slots_of(number, among) {
                self.slots.push(slot_id(slot));
                self.numbers.push(numbers[slot % 64]);
            }
        }
        if self.slots.len() >= self.full {
            self.choose();
        }
    }

    /// The slots of the best, in the order in which they were offered. Of those that nothing tells apart they are the later ones; what is
    /// not above 0 is not among them.
    pub(crate) fn done(mut self) -> Vec<u32> {
        self.choose();
        self.slots
    }

    /// The same without those that are further than this below the one that so many are better than.
    pub(crate) fn done_near(mut self, count: usize, margin: f32) -> Vec<u32> {
        let level = self.level((count, count + count / 16)).least;
        self.least = self.least.max(level - margin);
        self.choose();
        self.slots
    }

    /// Leaves out all but the best.
    fn choose(&mut self) {
        let Level { least, high, above } = self.level(self.count);
        self.least = least;
        self.leave_out(high, if above > self.count.1 { above - self.count.0 } else { 0 });
    }

    /// Halves the span between the least one and the greatest until no more are above its lower end than may be, and no fewer than must.
    fn level(&mut self, (least, most): (usize, usize)) -> Level {
        // What is not above 0 is never counted.
        self.numbers.resize(self.slots.len().next_multiple_of(64), 0.0);
        let mut level = Level { least: self.least, high: MOST, above: self.above(self.least) };
        for _ in 0..HALVINGS {
            if level.above <= most {
                break;
            }
            let middle = f32::midpoint(level.least, level.high);
            let above = self.above(middle);
            if above >= least {
                (level.least, level.above) = (middle, above);
            } else {
                level.high = middle;
            }
        }
        level
    }

    /// How many are above a number.
    fn above(&self, number: f32) -> usize {
        self.numbers
            .as_chunks()
            .0
            .iter()
            .map(|numbers| kernels::above(numbers, number).count_ones() as usize)
            .sum()
    }

    /// Leaves out what is not above the least, and the first so many of those that are not above `high`.
    fn leave_out(&mut self, high: f32, mut alike: usize) {
        let mut kept = 0;
        for number in 0..self.numbers.len() / 64 {
            let Some(numbers) = self.numbers[number * 64..].first_chunk::<64>() else { break };
            let mut bits = kernels::above(numbers, self.least);
            if alike > 0 {
                for slot in slots_of(0, bits & !kernels::above(numbers, high)).take(alike) {
                    bits &= !(1 << slot);
                    alike -= 1;
                }
            }
            for at in slots_of(number, bits) {
                (self.slots[kept], self.numbers[kept]) = (self.slots[at], self.numbers[at]);
                kept += 1;
            }
        }
        self.slots.truncate(kept);
        self.numbers.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn offered(numbers: &[f32], among: &[u64], count: (usize, usize)) -> Best {
        let mut best = Best::new(count);
        for (number, (among, numbers)) in among.iter().zip(numbers.as_chunks().0).enumerate() {
            best.offer(number, *among, numbers);
        }
        best
    }

    fn best(numbers: &[f32], among: &[u64], count: (usize, usize)) -> Vec<usize> {
        offered(numbers, among, count).done().into_iter().map(|slot| slot as usize).collect()
    }

    proptest! {
        /// However they lie: nothing is left out that is better than something chosen, and of equals the later ones are.
        #[test]
        fn the_best_are_chosen_and_not_many_more(
            runs in prop::collection::vec((0..60_u16, 1..400_usize, any::<bool>()), 1..60), count in 1..3_000_usize, more in 0..200_usize, seed in any::<u64>(),
            (nearer, margin) in (1..200_usize, 0.0..0.5_f32),
        ) {
            let mut numbers: Vec<f32> = Vec::new();
            for (level, length, alike) in &runs {
                let own = |at: usize| (seed.wrapping_mul(at as u64 + 1) >> 40) as f32 / 1e9;
                numbers.extend((0..*length).map(|at| f32::from(*level) / 40.0 - 0.2 + if *alike { 0.0 } else { own(at) }));
            }
            numbers.resize(numbers.len().next_multiple_of(64), 9.0);
            let filled: usize = runs.iter().map(|(_, length, _)| length).sum();
            let bit = |slot: usize| u64::from(slot < filled && seed >> (slot % 61) & 1 == 0) << (slot % 64);
            let among: Vec<u64> = (0..numbers.len() / 64).map(|word| (0..64).map(|at| bit(word * 64 + at)).sum()).collect();
            let chosen = best(&numbers, &among, (count, count + more));
            let mut expected: Vec<usize> = among.iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).filter(|slot| numbers[*slot] > 0.0).collect();
            expected.sort_by(|a, b| numbers[*b].total_cmp(&numbers[*a]).then(b.cmp(a)));
            prop_assert!(chosen.len() >= count.min(expected.len()) && chosen.len() <= count + more);
            prop_assert!(chosen.is_sorted());
            expected.truncate(chosen.len());
            expected.sort_unstable();
            // What does not count has no say, whatever it is.
            let foreign = |slot: usize| among[slot / 64] >> (slot % 64) & 1 == 0;
            let others: Vec<f32> = numbers.iter().enumerate().map(|(slot, number)| if foreign(slot) { 1.9 - number } else { *number }).collect();
            prop_assert_eq!(&best(&others, &among, (count, count + more)), &chosen);
            // What lies within the last span is not told apart.
            let least = |slots: &[usize]| slots.iter().map(|slot| numbers[*slot]).fold(f32::MAX, f32::min);
            prop_assert!((least(&chosen) - least(&expected)).abs() < 1e-6, "{} {}", least(&chosen), least(&expected));
            // Those that are far from the best go, too, and no others.
            let near: HashSet<u32> = offered(&numbers, &among, (count, count + more)).done_near(nearer, margin).into_iter().collect();
            let mut all: Vec<f32> = among.iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).map(|slot| numbers[slot]).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            let place = |place: usize| all.get(place).copied().unwrap_or(0.0).max(0.0);
            let (wanted, unwanted) = (place(nearer - 1) - margin, place(nearer + nearer / 16) - margin);
            let is_wanted = |slot: &usize| numbers[*slot] > wanted.max(place(count - 1)) + 1e-6;
            prop_assert!(near.len() <= count + more && near.iter().all(|slot| numbers[*slot as usize] > unwanted - 1e-6));
            prop_assert!(chosen.iter().filter(|slot| is_wanted(slot)).all(|slot| near.contains(&slot_id(*slot))));
        }
    }
}
