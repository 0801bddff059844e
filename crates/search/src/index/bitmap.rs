//! One bit per slot, 64 slots to a word: the type [`Bitmap`], and the same operations on slices of
//! words.

/// A set of slots that grows as needed; missing words count as empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bitmap(Vec<u64>);

impl Bitmap {
    /// Adds or removes a slot.
    pub fn set(&mut self, slot: usize, value: bool) {
        if self.0.len() <= slot / 64 {
            self.0.resize(slot / 64 + 1, 0);
        }
        if value { set_bit(&mut self.0, slot) } else { clear_bit(&mut self.0, slot) }
    }

    /// Returns whether a slot is in the set.
    pub fn has(&self, slot: usize) -> bool {
        has_bit(&self.0, slot)
    }

    /// Returns the bits of 64 slots, from slot `64 * number`.
    pub fn word(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }

    /// Returns whether the two sets share a slot.
    pub(crate) fn intersects(&self, words: &[u64]) -> bool {
        self.0.iter().zip(words).any(|(own, other)| own & other != 0)
    }

    /// Returns how many slots the two sets share.
    pub(crate) fn count_in(&self, words: &[u64]) -> usize {
        self.0.iter().zip(words).map(|(own, other)| (own & other).count_ones() as usize).sum()
    }
}

/// Returns whether the bit of a slot is set; false beyond the last word.
pub(crate) fn has_bit(words: &[u64], slot: usize) -> bool {
    words.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
}

/// Sets the bit of a slot.
pub(crate) fn set_bit(words: &mut [u64], slot: usize) {
    words[slot / 64] |= 1 << (slot % 64);
}

/// Clears the bit of a slot.
pub(crate) fn clear_bit(words: &mut [u64], slot: usize) {
    words[slot / 64] &= !(1 << (slot % 64));
}

/// Returns the slots whose bits are set in word `number`, which stands for the 64 slots from
/// `64 * number`.
pub(crate) fn slots_of(number: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            number * 64 + bit
        })
    })
}
