//! The sign codes of the tokens of each memory.
//!
//! Not here: comparing them (`ranking::late_interaction`).

use crate::index::huge_pages;
use crate::model::encoding::SignCode;

/// Codes of a small chunk; the codes of one memory are never split over two chunks.
const CHUNK: usize = 4096;
/// Number of small chunks; later ones are large, since only a chunk larger than a huge page can use
/// huge pages.
const SMALL: usize = 48;
const LARGE: usize = 64 * CHUNK;
/// Unused codes below which the chunks are never compacted; above, they are compacted at 25 %
/// unused codes.
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
pub(crate) struct Codes {
    spans: Vec<Span>,
    chunks: Vec<Vec<SignCode>>,
    live: usize,
    dead: usize,
}

impl Codes {
    /// Replaces the codes of a slot; `None` if its tokens are not encoded.
    pub(crate) fn set(&mut self, slot: usize, words: Option<&[SignCode]>) {
        if self.spans.len() <= slot {
            self.spans.resize(slot + 1, UNENCODED);
        }
        let old = std::mem::replace(&mut self.spans[slot], UNENCODED);
        if let Some(codes) = self.chunks.get_mut(old.chunk as usize) {
            codes[old.first as usize..][..old.count as usize].fill(SignCode::default());
            self.live -= old.count as usize;
            self.dead += old.count as usize;
        }
        if let Some(words) = words {
            self.spans[slot] = append(&mut self.chunks, words);
            self.live += words.len();
        }
        if self.dead > MIN_DEAD && self.dead * 3 > self.live {
            self.renew();
        }
    }

    /// Returns the codes of a slot; `None` if its tokens are not encoded.
    pub(crate) fn of(&self, slot: usize) -> Option<&[SignCode]> {
        let span = self.spans.get(slot)?;
        self.chunks
            .get(span.chunk as usize)
            .map(|codes| &codes[span.first as usize..][..span.count as usize])
    }

    /// Copies the codes in use to new chunks.
    fn renew(&mut self) {
        let mut chunks = Vec::new();
        for span in &mut self.spans {
            if let Some(codes) = self.chunks.get(span.chunk as usize) {
                *span = append(&mut chunks, &codes[span.first as usize..][..span.count as usize]);
            }
        }
        (self.chunks, self.dead) = (chunks, 0);
    }
}

fn append(chunks: &mut Vec<Vec<SignCode>>, words: &[SignCode]) -> Span {
    let most = |number: usize| if number < SMALL { CHUNK } else { LARGE };
    if chunks.last().is_none_or(|codes| codes.len() + words.len() > most(chunks.len() - 1)) {
        // In a small store only a chunk after a full one is allocated at full size.
        let room =
            if chunks.is_empty() { words.len() } else { words.len().max(most(chunks.len())) };
        chunks.push(huge_pages::with_capacity(room));
    }
    let chunk = chunks.len() - 1;
    let codes = &mut chunks[chunk];
    let first = crate::index::slot::slot_id(codes.len());
    codes.extend_from_slice(words);
    Span {
        chunk: crate::index::slot::slot_id(chunk),
        first,
        count: crate::index::slot::slot_id(words.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::code;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn many_code_lists_do_not_mix() {
        let (mut codes, each) = (Codes::default(), CHUNK - 1);
        let words = |slot: usize| vec![code(&slot.to_string()); each];
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
            let mut given: HashMap<usize, Option<Vec<SignCode>>> = HashMap::new();
            for (number, (slot, count)) in changes.into_iter().enumerate() {
                let words = count.map(|count| vec![code(&number.to_string()); count]);
                codes.set(slot, words.as_deref());
                given.insert(slot, words);
            }
            for (slot, words) in &given {
                prop_assert_eq!(codes.of(*slot), words.as_deref());
            }
            prop_assert!(codes.dead <= MIN_DEAD || codes.dead * 3 <= codes.live);
        }
    }
}
