//! The sign codes of the tokens of each memory.
//!
//! Not here: comparing them (`ranking::late_interaction`).

use crate::index::{huge_pages, slot_id};
use loci_base::model::encoding::SignCode;

/// Number of codes of a small chunk; the codes of one memory are always in one chunk.
const CHUNK: usize = 4096;
/// Number of small chunks; later ones are large, since only a chunk larger than a huge page can use
/// huge pages.
const SMALL: usize = 48;
const LARGE: usize = 64 * CHUNK;
/// Up to this many unused codes, the chunks are never compacted; above, they are compacted when 25
/// % of the codes are unused.
const MIN_DEAD: usize = 2 * CHUNK;

/// The position of one memory's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    chunk: u32,
    first: u32,
    count: u32,
}

/// The position of a memory whose tokens are not encoded.
const UNENCODED: Span = Span { chunk: u32::MAX, first: 0, count: 0 };

/// All codes, by slot.
#[derive(Debug, Default)]
pub struct Codes {
    spans: Vec<Span>,
    chunks: Vec<Vec<SignCode>>,
    /// Number of codes in use.
    live: usize,
    /// Number of unused codes.
    dead: usize,
}

impl Codes {
    /// Replaces the codes of a slot; `None` if its tokens are not encoded.
    pub fn set(&mut self, slot: usize, codes: Option<&[SignCode]>) {
        if self.spans.len() <= slot {
            self.spans.resize(slot + 1, UNENCODED);
        }
        let old = std::mem::replace(&mut self.spans[slot], UNENCODED);
        if let Some(chunk) = self.chunks.get_mut(old.chunk as usize) {
            chunk[old.first as usize..][..old.count as usize].fill(SignCode::default());
            self.live -= old.count as usize;
            self.dead += old.count as usize;
        }
        if let Some(codes) = codes {
            self.spans[slot] = append(&mut self.chunks, codes);
            self.live += codes.len();
        }
        if self.dead > MIN_DEAD && self.dead * 3 > self.live {
            self.compact();
        }
    }

    /// Returns the codes of a slot; `None` if its tokens are not encoded.
    pub fn of(&self, slot: usize) -> Option<&[SignCode]> {
        let span = self.spans.get(slot)?;
        self.chunks
            .get(span.chunk as usize)
            .map(|chunk| &chunk[span.first as usize..][..span.count as usize])
    }

    /// Copies the codes in use to new chunks.
    fn compact(&mut self) {
        let mut chunks = Vec::new();
        for span in &mut self.spans {
            if let Some(chunk) = self.chunks.get(span.chunk as usize) {
                *span = append(&mut chunks, &chunk[span.first as usize..][..span.count as usize]);
            }
        }
        (self.chunks, self.dead) = (chunks, 0);
    }
}

/// Appends the codes of one memory to the last chunk, or to a new one.
fn append(chunks: &mut Vec<Vec<SignCode>>, codes: &[SignCode]) -> Span {
    let capacity_of = |number: usize| if number < SMALL { CHUNK } else { LARGE };
    if chunks.last().is_none_or(|last| last.len() + codes.len() > capacity_of(chunks.len() - 1)) {
        // The first chunk grows as needed, so that a small store stays small.
        let capacity = if chunks.is_empty() {
            codes.len()
        } else {
            codes.len().max(capacity_of(chunks.len()))
        };
        chunks.push(huge_pages::with_capacity(capacity));
    }
    let number = chunks.len() - 1;
    let chunk = &mut chunks[number];
    let first = slot_id(chunk.len());
    chunk.extend_from_slice(codes);
    Span { chunk: slot_id(number), first, count: slot_id(codes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_testkit::code;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn codes_in_small_and_large_chunks_are_found_by_slot() {
        let mut codes = Codes::default();
        let words = |slot: usize| vec![code(&slot.to_string()); CHUNK - 1];
        (0..SMALL + LARGE / CHUNK + 4).for_each(|slot| codes.set(slot, Some(&words(slot))));
        assert_eq!(codes.chunks.len(), SMALL + 2);
        assert!(
            (0..SMALL + LARGE / CHUNK + 4).all(|slot| codes.of(slot) == Some(&words(slot)[..]))
        );
    }

    proptest! {
        #[test]
        fn every_slot_has_the_codes_that_were_set_last(changes in prop::collection::vec((0..40_usize, prop::option::of(0..300_usize)), 1..300)) {
            let mut codes = Codes::default();
            let mut expected: HashMap<usize, Option<Vec<SignCode>>> = HashMap::new();
            for (number, (slot, count)) in changes.into_iter().enumerate() {
                let words = count.map(|count| vec![code(&number.to_string()); count]);
                codes.set(slot, words.as_deref());
                expected.insert(slot, words);
            }
            for (slot, words) in &expected {
                prop_assert_eq!(codes.of(*slot), words.as_deref());
            }
            prop_assert!(codes.dead <= MIN_DEAD || codes.dead * 3 <= codes.live);
        }
    }
}
