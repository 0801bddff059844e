//! PURE: cuts a text into the pieces of a vocabulary, as the tokenizer of multilingual-e5-small does (a unigram model).
//!
//! Of all ways to cut a text the likeliest is taken. The library `tokenizers` does the same with 280 MB for this vocabulary of 250,000
//! pieces; here it has 8. Not here: reading the vocabulary (`q4_file`).

use crate::embedding::q4_file::Vocabulary;
use std::collections::HashMap;

/// Stands for a space.
const SPACE: char = '\u{2581}';
/// The pieces around a text, and that of a character that the vocabulary does not have.
const FIRST: u32 = 0;
const LAST: u32 = 2;
pub(crate) const UNKNOWN: u32 = 3;
/// How much less likely an unknown character is than the unlikeliest piece.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The pieces of a vocabulary, prepared for cutting.
pub struct Unigram {
    vocabulary: Vocabulary,
    /// The numbers of the pieces in the order of their bytes.
    sorted: Vec<u32>,
    unknown_score: f32,
}

/// One character of the normalised text.
struct Normal {
    character: char,
    /// The bytes of the text from which it comes.
    from: (usize, usize),
}

/// The best way to a place in the text.
#[derive(Clone, Copy)]
struct Way {
    score: f32,
    piece: u32,
    start: usize,
}

impl Unigram {
    /// Prepares a vocabulary.
    pub(crate) fn new(vocabulary: Vocabulary) -> Self {
        let mut sorted: Vec<u32> = (0_u32..).take(vocabulary.scores.len()).collect();
        sorted.sort_unstable_by_key(|piece| bytes(&vocabulary, *piece));
        let lowest = vocabulary.scores.iter().copied().fold(f32::INFINITY, f32::min);
        Self { vocabulary, sorted, unknown_score: lowest - UNKNOWN_PENALTY }
    }

    /// Returns the numbers of the pieces of a text, with the two around it, and the bytes from which each comes. Those around it come from
    /// none.
    pub fn cut(&self, text: &str) -> (Vec<u32>, Vec<(usize, usize)>) {
        let normal = normalise(text, &self.vocabulary.normal);
        let ways = self.ways(&normal);
        let (mut ids, mut ranges) = (vec![LAST], vec![(0, 0)]);
        let mut end = normal.len();
        while end > 0 {
            let Way { piece, start, .. } = ways[end];
            ids.push(piece);
            ranges.push((normal[start].from.0, normal[end - 1].from.1));
            end = start;
        }
        ids.push(FIRST);
        ranges.push((0, 0));
        ids.reverse();
        ranges.reverse();
        (ids, ranges)
    }

    /// Returns the best way to each place.
    fn ways(&self, normal: &[Normal]) -> Vec<Way> {
        let nowhere = Way { score: f32::NEG_INFINITY, piece: UNKNOWN, start: 0 };
        let mut ways = vec![nowhere; normal.len() + 1];
        ways[0].score = 0.0;
        for start in 0..normal.len() {
            let score = ways[start].score;
            self.pieces_at(&normal[start..], |length, piece| {
                let score = score + self.vocabulary.scores[piece as usize];
                if score > ways[start + length].score {
                    ways[start + length] = Way { score, piece, start };
                }
            });
            let score = score + self.unknown_score;
            if score > ways[start + 1].score {
                ways[start + 1] = Way { score, piece: UNKNOWN, start };
            }
        }
        ways
    }

    /// Calls `found` with each piece with which the characters begin, and how many of them it has.
    fn pieces_at(&self, normal: &[Normal], mut found: impl FnMut(usize, u32)) {
        let mut candidates = self.sorted.as_slice();
        let mut length = 0;
        for (at, Normal { character, .. }) in normal.iter().enumerate() {
            let mut buffer = [0; 4];
            let wanted = character.encode_utf8(&mut buffer).as_bytes();
            let end = length + wanted.len();
            let part = |piece: &u32| {
                let piece = bytes(&self.vocabulary, *piece);
                &piece[length..end.min(piece.len())]
            };
            let first = candidates.partition_point(|piece| part(piece) < wanted);
            candidates = &candidates[first..];
            let count = candidates.partition_point(|piece| part(piece) == wanted);
            candidates = &candidates[..count];
            let Some(shortest) = candidates.first() else { return };
            length = end;
            if bytes(&self.vocabulary, *shortest).len() == length && *shortest != UNKNOWN {
                found(at + 1, *shortest);
            }
        }
    }
}

fn bytes(vocabulary: &Vocabulary, piece: u32) -> &[u8] {
    let at = piece as usize;
    &vocabulary.text[vocabulary.offsets[at] as usize..vocabulary.offsets[at + 1] as usize]
}

/// Returns the text with a space in front and no space after a space, each character as the vocabulary has it.
fn normalise(text: &str, normal: &HashMap<char, Box<[char]>>) -> Vec<Normal> {
    let mut characters: Vec<Normal> = Vec::with_capacity(text.len() + 1);
    for (start, character) in text.char_indices() {
        let from = (start, start + character.len_utf8());
        let own = [character];
        for character in normal.get(&character).map_or(own.as_slice(), |becomes| becomes) {
            let is_space = |of: &Normal| of.character == ' ';
            if *character != ' ' || !characters.last().is_some_and(is_space) {
                characters.push(Normal { character: *character, from });
            }
        }
    }
    if characters.first().is_none_or(|first| first.character != ' ') {
        characters.insert(0, Normal { character: ' ', from: (0, 0) });
    }
    for space in characters.iter_mut().filter(|of| of.character == ' ') {
        space.character = SPACE;
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unigram() -> Unigram {
        let all = [
            ("<s>", 0.0),
            ("<pad>", 0.0),
            ("</s>", 0.0),
            ("<unk>", 0.0),
            ("\u{2581}", -3.0),
            ("a", -4.0),
            ("b", -4.0),
            ("\u{2581}ab", -5.0),
            ("ab", -6.0),
            ("fi", -4.0),
        ];
        let mut vocabulary = Vocabulary { offsets: vec![0], ..Vocabulary::default() };
        for (piece, score) in all {
            vocabulary.text.extend(piece.as_bytes());
            vocabulary.offsets.push(u32::try_from(vocabulary.text.len()).expect("it is short"));
            vocabulary.scores.push(score);
        }
        vocabulary.normal.insert('ﬁ', Box::from(['f', 'i']));
        vocabulary.normal.insert('\t', Box::from([' ']));
        vocabulary.normal.insert('\u{1}', Box::from([]));
        Unigram::new(vocabulary)
    }

    #[test]
    fn the_likeliest_pieces_are_taken_with_their_bytes() {
        let unigram = unigram();
        assert_eq!(unigram.cut("ab"), (vec![0, 7, 2], vec![(0, 0), (0, 2), (0, 0)]));
        // A tab is a space, and several are one.
        assert_eq!(unigram.cut("b \t ab").0, [0, 4, 6, 7, 2]);
        assert_eq!(unigram.cut("ﬁ"), (vec![0, 4, 9, 2], vec![(0, 0), (0, 0), (0, 3), (0, 0)]));
        assert_eq!(unigram.cut("a\u{1}é").0, [0, 4, 5, UNKNOWN, 2]);
        assert_eq!(unigram.cut("").0, [0, 4, 2]);
    }

    proptest! {
        #[test]
        fn pieces_cover_the_text_in_order(text in "[ab éﬁ\t日]{0,40}") {
            let (ids, ranges) = unigram().cut(&text);
            prop_assert_eq!(ids.len(), ranges.len());
            let inner = &ranges[1..ranges.len() - 1];
            prop_assert!(inner.iter().all(|range| text.get(range.0..range.1).is_some()));
            prop_assert!(inner.windows(2).all(|pair| pair[0].1 <= pair[1].0 || pair[0] == pair[1]));
        }
    }
}
