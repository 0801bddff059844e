//! One bit for each slot.

/// Which slots have some quality.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bitmap(Vec<u64>);

impl Bitmap {
    pub(crate) fn set(&mut self, slot: usize, to: bool) {
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if to {
            self.0[word] |= bit;
        } else {
            self.0[word] &= !bit;
        }
    }

    pub(crate) fn has(&self, slot: usize) -> bool {
        self.word(slot / 64) >> (slot % 64) & 1 == 1
    }

    /// 64 slots at once.
    pub(crate) fn word(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }

    /// Whether one of these slots has it too.
    pub(crate) fn meets(&self, words: &[u64]) -> bool {
        self.0.iter().zip(words).any(|(own, other)| own & other != 0)
    }
}

/// The slots of a word of 64, by their bits.
pub(crate) fn slots_of(number: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            number * 64 + bit
        })
    })
}
