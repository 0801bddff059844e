//! A sorted set of slots: a list and, if the set is dense, also a bitmap.

use crate::index::bitmap::Bitmap;

/// A set is dense if it contains at least one slot in this many: from there on a bitmap is smaller
/// than a list of 32-bit numbers.
const DENSE_INTERVAL: usize = 32;
/// Sets with fewer slots have no bitmap.
const MIN_DENSE: usize = 256;

/// A sorted set of slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlotSet {
    list: Vec<u32>,
    bits: Option<Box<Bitmap>>,
}

impl SlotSet {
    /// Returns the slots in storage order.
    pub fn list(&self) -> &[u32] {
        &self.list
    }

    /// Returns the position of a slot in the set.
    pub fn position(&self, slot: u32) -> Option<usize> {
        self.list.binary_search(&slot).ok()
    }

    /// Inserts a slot. Returns its position, or `None` if it was in the set before.
    pub fn insert(&mut self, slot: u32) -> Option<usize> {
        let position = match self.list.last() {
            Some(last) if *last >= slot => self.list.binary_search(&slot).err()?,
            _ => self.list.len(),
        };
        self.list.insert(position, slot);
        // Hysteresis: the bitmap is dropped at half the density at which it is created.
        self.bits = self.bits.take().filter(|_| self.is_dense(2));
        if let Some(bits) = &mut self.bits {
            bits.set(slot as usize, true);
        } else if self.list.len() >= MIN_DENSE && self.is_dense(1) {
            let mut bits = Bitmap::default();
            self.list.iter().for_each(|slot| bits.set(*slot as usize, true));
            self.bits = Some(Box::new(bits));
        }
        Some(position)
    }

    /// Removes a slot. Returns its former position, or `None` if it was not in the set.
    pub fn remove(&mut self, slot: u32) -> Option<usize> {
        let position = self.position(slot)?;
        self.list.remove(position);
        self.bits = self.bits.take().filter(|_| self.is_dense(2));
        if let Some(bits) = &mut self.bits {
            bits.set(slot as usize, false);
        }
        Some(position)
    }

    /// Returns how many slots of the set have their bit set in `words`.
    pub(crate) fn count_in(&self, words: &[u64]) -> usize {
        match &self.bits {
            Some(bits) => words
                .iter()
                .enumerate()
                .map(|(number, word)| (bits.word(number) & word).count_ones() as usize)
                .sum(),
            None => self
                .list
                .iter()
                .filter(|slot| {
                    words
                        .get(**slot as usize / 64)
                        .is_some_and(|word| word >> (**slot % 64) & 1 == 1)
                })
                .count(),
        }
    }

    /// Sets the bits of the set in `words`; slots beyond its end are ignored.
    pub fn mark(&self, words: &mut [u64]) {
        match &self.bits {
            Some(bits) => {
                words.iter_mut().enumerate().for_each(|(number, word)| *word |= bits.word(number));
            }
            None => {
                for slot in &self.list {
                    if let Some(word) = words.get_mut(*slot as usize / 64) {
                        *word |= 1 << (slot % 64);
                    }
                }
            }
        }
    }

    /// Returns whether the set contains at least one slot in `factor * DENSE_INTERVAL`, up to its
    /// last slot.
    fn is_dense(&self, factor: usize) -> bool {
        self.list.len() * DENSE_INTERVAL * factor
            > self.list.last().map_or(0, |last| *last as usize)
    }
}

impl From<Vec<u32>> for SlotSet {
    /// Makes a set of slots that are in storage order.
    fn from(list: Vec<u32>) -> Self {
        Self { list, bits: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{slot_id, slots_of};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Whether sparse or dense.
        #[test]
        fn a_set_contains_the_slots_that_were_inserted_and_not_removed(
            changes in prop::collection::vec((0..3_000_u32, 1..700_u32, 1..40_usize, any::<bool>()), 1..20),
            seed in any::<u64>(),
        ) {
            let (mut slots, mut expected) = (SlotSet::default(), BTreeSet::new());
            for (first, count, step, inserts) in changes {
                for slot in (first..first + count).step_by(step) {
                    let changes = if inserts { expected.insert(slot) } else { expected.remove(&slot) };
                    let position = if inserts { slots.insert(slot) } else { slots.remove(slot) };
                    prop_assert_eq!(position.is_some(), changes);
                }
            }
            prop_assert_eq!(slots.list(), expected.iter().copied().collect::<Vec<_>>());
            let words: Vec<u64> = (0..40_u64).map(|word| seed.wrapping_mul(word * 2 + 1)).collect();
            let has = |slot: u32| words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1);
            prop_assert_eq!(slots.count_in(&words), expected.iter().filter(|slot| has(**slot)).count());
            let mut marked = vec![0; 40];
            slots.mark(&mut marked);
            let bits: Vec<u32> = marked.iter().enumerate().flat_map(|(number, word)| slots_of(number, *word)).map(slot_id).collect();
            prop_assert_eq!(bits, expected.iter().copied().filter(|slot| *slot < 40 * 64).collect::<Vec<_>>());
        }
    }
}
