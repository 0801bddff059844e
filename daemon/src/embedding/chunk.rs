//! Tokenizing: splits a text into chunks of token ids and finds the tokens of its content words. A long text becomes overlapping windows.
//!
//! Also defines the model's output for a chunk and its validated encoding. Not here: the forward pass (`onnx`), which chunks are encoded
//! together (`batch`), which words are content words (`loci_engine::text::features`).

use crate::embedding::profile::Profile;
pub use crate::embedding::profile::{CHUNK_TOKENS, OVERLAP, TextKind};
use crate::embedding::tokenizer::{TextTokenizer, TextTokens};
use loci_engine::model::encoding::{
    Embedding, EmbeddingError, MAX_SIGN_CODES, QueryWord, SignCode,
};
use loci_engine::text::features::{compared_part, content_words};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

/// A prefix may have at most this share of the tokens of a chunk.
const PREFIX_SHARE: usize = 4;

/// How the tokens of a long text are distributed over its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Windows {
    /// Tokens of the prefix, which every chunk has.
    prefix: usize,
    /// Tokens of a window of the text: a chunk without prefix, `[CLS]` and `[SEP]`.
    size: usize,
}

impl Windows {
    fn new(max_tokens: usize, prefix: usize) -> Self {
        Self { prefix, size: max_tokens - 2 - prefix }
    }

    /// Returns the number of tokens from the start of one window to the start of the next.
    fn step(self) -> usize {
        self.size - OVERLAP
    }

    /// Splits the tokens of a text; each window starts [`OVERLAP`] tokens before the end of the previous one, and the last ends with the text.
    fn split(self, tokens: &[u32]) -> impl Iterator<Item = &[u32]> {
        let starts = (0..tokens.len() - OVERLAP).step_by(self.step());
        starts.map(move |start| &tokens[start..tokens.len().min(start + self.size)])
    }

    /// Returns where the token with the number `token`, of prefix and text in `chunks` chunks, is encoded. A token in an overlap belongs to
    /// the chunk in which it has more context.
    fn position_of_token(self, token: usize, chunks: usize) -> TokenPosition {
        let before = 1 + self.prefix + OVERLAP / 2;
        let chunk = (token.saturating_sub(before) / self.step()).min(chunks - 1);
        TokenPosition { chunk, index: token - chunk * self.step() }
    }
}

/// A content word and its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct WordSpan {
    /// The word in lower case.
    pub text: String,
    /// The positions of its tokens in the chunk.
    pub tokens: Range<usize>,
    /// How much of it the model can read, 0 to 1.
    pub legibility: f32,
}

/// The token ids that the model encodes as one row of a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunk {
    /// Token ids, with `[CLS]` and `[SEP]`.
    pub ids: Vec<u32>,
    /// The content words for which the model returns a token sketch.
    pub words: Vec<WordSpan>,
}

/// The model's output for one chunk, not validated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChunkOutput {
    /// The embedding, normalised to length 1.
    pub vector: Vec<f32>,
    /// One token sketch for each word of the chunk, in order.
    pub codes: Vec<SignCode>,
}

/// The validated encoding of one chunk.
pub(crate) struct EncodedChunk {
    pub vector: Embedding,
    /// The content words with their token sketches.
    pub words: Vec<QueryWord>,
}

impl EncodedChunk {
    /// Validates the output of the model for a chunk.
    ///
    /// # Errors
    /// [`EmbeddingError`] if the vector is not a valid embedding.
    pub fn new(chunk: &Chunk, output: ChunkOutput) -> Result<Self, EmbeddingError> {
        let vector = Embedding::new(output.vector)?;
        let word = |(span, code): (&WordSpan, SignCode)| QueryWord {
            text: span.text.clone(),
            code,
            legibility: span.legibility,
        };
        let words = chunk.words.iter().zip(output.codes).map(word).collect();
        Ok(Self { vector, words })
    }
}

/// The model's tokenizer, configured to split texts into chunks.
pub struct Chunker {
    tokenizer: TextTokenizer,
    profile: Profile,
}

impl Chunker {
    /// Uses a tokenizer as a profile says.
    ///
    /// # Errors
    /// The tokenizer's message; the reason if a prefix of the profile has too many tokens.
    pub fn new(tokenizer: TextTokenizer, profile: &Profile) -> Result<Self, String> {
        for prefix in [&profile.query_prefix, &profile.passage_prefix] {
            // Two tokens are around it.
            let tokens = tokenizer.tokens(prefix)?.ids.len().saturating_sub(2);
            let max = profile.max_tokens / PREFIX_SHARE;
            if tokens > max {
                return Err(format!("the prefix {prefix:?} has {tokens} tokens, more than {max}"));
            }
        }
        Ok(Self { tokenizer, profile: profile.clone() })
    }

    /// Parses a `tokenizer.json`.
    ///
    /// # Errors
    /// As [`TextTokenizer::from_json`] and [`Self::new`].
    pub fn from_json(json: &[u8], profile: &Profile) -> Result<Self, String> {
        Self::new(TextTokenizer::from_json(json)?, profile)
    }

    /// Splits a text into chunks, at least one, each with `[CLS]`, the prefix of the profile and `[SEP]`. A text of up to `max_tokens` is one
    /// chunk; a longer one becomes windows, and neighbouring windows share [`OVERLAP`] tokens.
    ///
    /// # Errors
    /// The tokenizer's message.
    pub fn split(&self, text: &str, kind: TextKind) -> Result<Vec<Chunk>, String> {
        let prefix = self.profile.prefix(kind);
        let whole = match prefix {
            "" => Cow::Borrowed(text),
            _ => Cow::Owned(format!("{prefix}{text}")),
        };
        let TextTokens { ids, ranges } = self.tokenizer.tokens(&whole)?;
        let (ids, offsets) = (ids.as_slice(), ranges.as_slice());
        let in_prefix = |range: &&(usize, usize)| range.1 > range.0 && range.1 <= prefix.len();
        let windows =
            Windows::new(self.profile.max_tokens, offsets.iter().filter(in_prefix).count());
        let mut chunks: Vec<Chunk> = match ids {
            [cls, own @ .., sep] if ids.len() > self.profile.max_tokens => {
                let (prefix, own) = own.split_at(windows.prefix);
                let ids = |window| [&[*cls], prefix, window, &[*sep]].concat();
                windows
                    .split(own)
                    .map(|window| Chunk { ids: ids(window), words: Vec::new() })
                    .collect()
            }
            _ => vec![Chunk { ids: ids.to_vec(), words: Vec::new() }],
        };
        let tokens = Tokens {
            ids,
            offsets,
            text_start: prefix.len(),
            unknown: self.tokenizer.unknown(),
            legible_piece: self.tokenizer.legible_piece(),
        };
        for WordSpan { text, tokens, legibility } in word_spans(text, kind, &tokens) {
            let first = windows.position_of_token(tokens.start, chunks.len());
            let chunk = &mut chunks[first.chunk];
            let end = (first.index + tokens.len()).min(chunk.ids.len() - 1);
            chunk.words.push(WordSpan { text, tokens: first.index..end, legibility });
        }
        Ok(chunks)
    }
}

/// The tokens of a prefix and a text.
struct Tokens<'a> {
    ids: &'a [u32],
    /// Byte ranges in prefix and text.
    offsets: &'a [(usize, usize)],
    /// Where the text starts, after the prefix.
    text_start: usize,
    /// The token of what the vocabulary does not know.
    unknown: Option<u32>,
    /// Letters of a piece from which the model reads a word.
    legible_piece: f32,
}

/// The chunk in which a token is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TokenPosition {
    /// Index of the chunk.
    chunk: usize,
    /// Index of the token in the chunk.
    index: usize,
}

/// Returns the content words that get a token sketch, with positions in the whole text, where `[CLS]` is token 0.
fn word_spans(text: &str, kind: TextKind, tokens: &Tokens) -> Vec<WordSpan> {
    let Tokens { ids, offsets, text_start, unknown, legible_piece } = *tokens;
    let body_start = match kind {
        TextKind::Query => 0,
        TextKind::Document => text.len() - compared_part(text).len(),
    };
    let mut words = Vec::new();
    let mut next = 0;
    for word in content_words(&text[body_start..]) {
        let in_text = word.start + body_start..word.end + body_start;
        let (from, to) = (in_text.start + text_start, in_text.end + text_start);
        // [CLS] and [SEP] have empty ranges at 0.
        while next < offsets.len()
            && (offsets[next].1 <= from || offsets[next].0 == offsets[next].1)
        {
            next += 1;
        }
        let end = (next..offsets.len())
            .take_while(|token| offsets[*token].0 < to && offsets[*token].1 > from)
            .last()
            .map_or(next, |last| last + 1);
        if end > next {
            let word = &text[in_text];
            let is_unknown = ids[next..end].iter().any(|id| Some(*id) == unknown);
            let legibility =
                if is_unknown { 0.0 } else { legibility(word, end - next, legible_piece) };
            words.push(WordSpan { text: word.to_lowercase(), tokens: next..end, legibility });
        }
    }
    if kind == TextKind::Document { most_distinctive(words, ids) } else { words }
}

/// Returns how much of a word the model can read, 0 to 1, from the number of pieces into which its vocabulary cuts the word. Single letters
/// say nothing to it. It reads pieces of `legible_piece` letters, and numbers.
fn legibility(word: &str, pieces: usize, legible_piece: f32) -> f32 {
    if pieces == 1 || legible_piece <= 1.0 || !word.contains(char::is_alphabetic) {
        return 1.0;
    }
    let letters = word.chars().filter(|c| c.is_alphanumeric()).count() as f32;
    ((letters / pieces as f32 - 1.0) / (legible_piece - 1.0)).clamp(0.0, 1.0)
}

/// Keeps at most [`MAX_SIGN_CODES`] words, in text order. First occurrences come before second ones and so on; within equal occurrence
/// numbers, rarer words come first.
///
/// The model's vocabulary is sorted by frequency, so a higher token id is a rarer word; a word of several tokens counts as rarer than any
/// word of one token. Rarity does not depend on other memories, so the choice never has to be repeated.
fn most_distinctive(words: Vec<WordSpan>, ids: &[u32]) -> Vec<WordSpan> {
    if words.len() <= MAX_SIGN_CODES {
        return words;
    }
    let mut occurrences: HashMap<String, usize> = HashMap::new();
    let mut ranked = Vec::with_capacity(words.len());
    for (index, word) in words.iter().enumerate() {
        let occurrence = occurrences.entry(word.text.clone()).or_default();
        let rarest = ids[word.tokens.clone()].iter().max().copied().unwrap_or(0);
        ranked.push((*occurrence, Reverse((word.tokens.len().min(2), rarest)), index));
        *occurrence += 1;
    }
    ranked.sort_unstable();
    ranked.truncate(MAX_SIGN_CODES);
    let mut kept = vec![false; words.len()];
    for (.., index) in ranked {
        kept[index] = true;
    }
    words.into_iter().zip(kept).filter_map(|(word, kept)| kept.then_some(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_an_overlap_belongs_to_the_chunk_with_more_context() {
        let windows = Windows::new(CHUNK_TOKENS, 0);
        let position = |token, chunks| {
            let TokenPosition { chunk, index } = windows.position_of_token(token, chunks);
            (chunk, index)
        };
        assert_eq!(position(1, 1), (0, 1));
        assert_eq!(position(300, 1), (0, 300), "a text of one chunk has no other");
        // The second window starts at token 223 of the text; its own tokens begin with its 17th.
        assert_eq!((position(238, 2), position(239, 2)), ((0, 238), (1, 17)));
        let step = windows.step();
        assert_eq!(position(1 + 2 * step + 16, 3), (2, 17));
        assert_eq!(position(1 + 2 * step + 16, 2), (1, step + 17), "the last window has the rest");
    }

    #[test]
    fn every_chunk_has_the_prefix_and_its_tokens_follow() {
        let windows = Windows::new(64, 3);
        assert_eq!((windows.size, windows.step()), (59, 27));
        let tokens: Vec<u32> = (0..100).collect();
        let split: Vec<&[u32]> = windows.split(&tokens).collect();
        assert_eq!((split.len(), split[1][0], split[2].last()), (3, 27, Some(&99)));
        // Token 4 of the whole is the first of the text.
        for token in [4, 19, 20, 40, 80, 103] {
            let TokenPosition { chunk, index } = windows.position_of_token(token, split.len());
            assert_eq!(split[chunk][index - 4], tokens[token - 4], "{token}");
        }
    }
}
