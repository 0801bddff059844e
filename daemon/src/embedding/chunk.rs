//! From a text to what the model reads: one piece of token ids, or windows of a long text, and where the content words stand in them.
//!
//! Not here: running them (`onnx`), putting them together in runs (`round`), which words have content (`engine::soft::text`).

use loci_engine::model::encoding::MAX_SIGN_CODES;
use loci_engine::text::features::{content_words, parts};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use tokenizers::Tokenizer;

/// Tokens of one piece, `[CLS]` and `[SEP]` included. The model was trained on up to 256.
pub const PIECE_TOKENS: usize = 256;

/// Tokens that two neighbouring windows of a long text share.
pub const OVERLAP: usize = 32;

/// Tokens of a window that are the text's own.
const WINDOW: usize = PIECE_TOKENS - 2;

/// Tokens from the beginning of one window to that of the next.
const STEP: usize = WINDOW - OVERLAP;

/// A word that is read in its place: the tokens of a piece that make it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case.
    pub text: String,
    /// Where it stands among the piece's tokens.
    pub tokens: Range<usize>,
}

/// What the model reads at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// Token ids, with `[CLS]` and `[SEP]`.
    pub ids: Vec<u32>,
    /// The content words whose codes are wanted.
    pub words: Vec<Word>,
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A question: all its content words count.
    Query,
    /// A memory: date and speaker before it are no words of its own, and at most [`MAX_SIGN_CODES`] count.
    Document,
}

/// The tokenizer, set up for pieces.
pub struct Pieces(Tokenizer);

impl Pieces {
    /// Reads a `tokenizer.json`. The file itself asks for cutting at 128 tokens and padding to 128; neither is done.
    ///
    /// # Errors
    /// What the tokenizer said, when the text is no tokenizer.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let mut tokenizer =
            Tokenizer::from_bytes(json).map_err(|e| format!("tokenizer.json: {e}"))?;
        // Windows are cut here: with a truncation set, tokenizers 0.23 stops reading at its limit, and the overflow is lost.
        tokenizer
            .with_padding(None)
            .with_truncation(None)
            .map_err(|e| format!("tokenizer.json: {e}"))?;
        Ok(Self(tokenizer))
    }

    /// The pieces of a text, at least one, each with `[CLS]` and `[SEP]`: a text of up to [`PIECE_TOKENS`] is one piece, a longer
    /// one windows of 254 tokens of its own, of which neighbours share [`OVERLAP`].
    ///
    /// # Errors
    /// What the tokenizer said.
    pub fn of(&self, text: &str, used: Use) -> Result<Vec<Piece>, String> {
        let encoded = self.0.encode(text, true).map_err(|e| format!("the tokenizer: {e}"))?;
        let ids = encoded.get_ids();
        let mut pieces: Vec<Piece> = match ids {
            [start, own @ .., end] if ids.len() > PIECE_TOKENS => windows(own)
                .map(|window| Piece {
                    ids: [&[*start], window, &[*end]].concat(),
                    words: Vec::new(),
                })
                .collect(),
            _ => vec![Piece { ids: ids.to_vec(), words: Vec::new() }],
        };
        for Word { text, tokens } in words(text, used, ids, encoded.get_offsets()) {
            let (piece, first) = place(tokens.start, pieces.len());
            let last = (first + tokens.len()).min(pieces[piece].ids.len() - 1);
            pieces[piece].words.push(Word { text, tokens: first..last });
        }
        Ok(pieces)
    }
}

/// Windows of [`WINDOW`], each beginning [`OVERLAP`] before the end of the one before; the last ends where the text does.
fn windows(own: &[u32]) -> impl Iterator<Item = &[u32]> {
    let starts = (0..own.len() - OVERLAP).step_by(STEP);
    starts.map(|start| &own[start..own.len().min(start + WINDOW)])
}

/// The piece in which a token is read, and where it stands there. In an overlap that is where it has more around it.
fn place(token: usize, pieces: usize) -> (usize, usize) {
    let piece = (token.saturating_sub(1 + OVERLAP / 2) / STEP).min(pieces - 1);
    (piece, token - piece * STEP)
}

/// The words whose codes are wanted, with their tokens in the whole text, `[CLS]` being the first.
fn words(text: &str, used: Use, ids: &[u32], spans: &[(usize, usize)]) -> Vec<Word> {
    let start = match used {
        Use::Query => 0,
        Use::Document => text.len() - parts(text).body.len(),
    };
    let mut words = Vec::new();
    let mut next = 0;
    for word in content_words(&text[start..]) {
        let (from, to) = (word.start + start, word.end + start);
        // [CLS] and [SEP] have empty spans, at 0.
        while next < spans.len() && (spans[next].1 <= from || spans[next].0 == spans[next].1) {
            next += 1;
        }
        let end = (next..spans.len())
            .take_while(|token| spans[*token].0 < to && spans[*token].1 > from)
            .last()
            .map_or(next, |last| last + 1);
        if end > next {
            words.push(Word { text: text[from..to].to_lowercase(), tokens: next..end });
        }
    }
    if used == Use::Document { most_telling(words, ids) } else { words }
}

/// At most [`MAX_SIGN_CODES`], in their order. A word's first place comes before the next place of any; among those the rarer word comes first.
///
/// How rare a word is the vocabulary of the model tells, which is sorted by frequency; a word that it has to put together is rarer than
/// all that it knows. Nothing that is stored later can change that, so codes never have to be chosen anew.
fn most_telling(words: Vec<Word>, ids: &[u32]) -> Vec<Word> {
    if words.len() <= MAX_SIGN_CODES {
        return words;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut ranked = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let times = seen.entry(word.text.clone()).or_default();
        let rarest = ids[word.tokens.clone()].iter().max().copied().unwrap_or(0);
        ranked.push((*times, Reverse((word.tokens.len().min(2), rarest)), at));
        *times += 1;
    }
    ranked.sort_unstable();
    ranked.truncate(MAX_SIGN_CODES);
    let mut kept = vec![false; words.len()];
    for (.., at) in ranked {
        kept[at] = true;
    }
    words.into_iter().zip(kept).filter_map(|(word, kept)| kept.then_some(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_an_overlap_is_read_where_it_has_more_around_it() {
        assert_eq!(place(1, 1), (0, 1));
        assert_eq!(place(300, 1), (0, 300), "a text of one piece has no other");
        // The second window begins with token 223 of the text; from its 17th on it is read there.
        assert_eq!((place(238, 2), place(239, 2)), ((0, 238), (1, 17)));
        assert_eq!(place(1 + 2 * STEP + 16, 3), (2, 17));
        assert_eq!(place(1 + 2 * STEP + 16, 2), (1, STEP + 17), "the last window has the rest");
    }
}
