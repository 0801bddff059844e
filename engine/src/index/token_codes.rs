//! The sign codes of the tokens of each memory.
//!
//! Not here: what they are compared with (`soft`).

use crate::index::huge_pages;
use crate::model::encoding::SignCode;

/// Codes of one chunk; those of one memory never stand in two.
const CHUNK: usize = 4096;
/// So many chunks are of that size; the rest are of so many codes, since only what is larger than a large page can be of large pages.
const SMALL: usize = 48;
const LARGE: usize = 64 * CHUNK;
/// From this many codes that nobody has any more on, it is looked whether they are a quarter of all.
const MIN_DEAD: usize = 2 * CHUNK;

/// Where the codes of one memory stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    chunk: u32,
    first: u32,
    count: u32,
}

/// Whose words have not been read.
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
    /// Gives a slot its codes in the place of those that it had; none where its words have not been read.
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

    /// The codes of a slot; none where its words have not been read.
    pub(crate) fn of(&self, slot: usize) -> Option<&[SignCode]> {
        let span = self.spans.get(slot)?;
        self.chunks
            .get(span.chunk as usize)
            .map(|codes| &codes[span.first as usize..][..span.count as usize])
    }

    /// Leaves behind what nobody has any more.
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
        // A small store takes little: only what follows a full chunk is made as large as that at once.
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
    fn many_are_kept_apart_from_each_other() {
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
        fn every_slot_has_what_it_was_given_last(changes in prop::collection::vec((0..40_usize, prop::option::of(0..300_usize)), 1..300)) {
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
