//! Tokenizing: splits a text into chunks of token ids and finds the tokens of its content words. A long text becomes overlapping windows.
//!
//! Also defines the model's output for a chunk and its validated encoding. Not here: the forward pass (`onnx`), which chunks are encoded
//! together (`batch`), which words are content words (`loci_engine::text::features`).

use loci_engine::model::encoding::{Embedding, EmbeddingError, MAX_SIGN_CODES, SignCode};
use loci_engine::text::features::{compared_part, content_words};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use tokenizers::Tokenizer;

/// Maximum tokens of one chunk, `[CLS]` and `[SEP]` included. The model was trained on up to 256.
pub const CHUNK_TOKENS: usize = 256;

/// Tokens that two neighbouring windows of a long text share.
pub const OVERLAP: usize = 32;

/// Tokens of a window without `[CLS]` and `[SEP]`.
const WINDOW: usize = CHUNK_TOKENS - 2;

/// Tokens from the start of one window to the start of the next.
const STEP: usize = WINDOW - OVERLAP;

/// A content word and its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSpan {
    /// The word in lower case.
    pub text: String,
    /// The positions of its tokens in the chunk.
    pub tokens: Range<usize>,
}

/// The token ids that the model encodes as one row of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    pub words: Vec<(String, SignCode)>,
}

impl EncodedChunk {
    /// Validates the output of the model for a chunk.
    ///
    /// # Errors
    /// [`EmbeddingError`] if the vector is not a valid embedding.
    pub fn new(chunk: &Chunk, output: ChunkOutput) -> Result<Self, EmbeddingError> {
        let vector = Embedding::new(output.vector)?;
        let words = chunk.words.iter().map(|word| word.text.clone()).zip(output.codes).collect();
        Ok(Self { vector, words })
    }
}

/// How the content words of a text are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A query: all content words.
    Query,
    /// A memory: at most [`MAX_SIGN_CODES`] words, and none of the date and speaker in front of a dated line.
    Document,
}

/// The model's tokenizer, configured to split texts into chunks.
pub struct Chunker(Tokenizer);

impl Chunker {
    /// Parses a `tokenizer.json`. Its own truncation to 128 tokens and padding to 128 tokens are switched off.
    ///
    /// # Errors
    /// The tokenizer's message if the text is not a valid tokenizer.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let mut tokenizer =
            Tokenizer::from_bytes(json).map_err(|e| format!("tokenizer.json: {e}"))?;
        // `split` makes the windows itself: with truncation, tokenizers 0.23 stops reading at its limit and loses the rest.
        tokenizer
            .with_padding(None)
            .with_truncation(None)
            .map_err(|e| format!("tokenizer.json: {e}"))?;
        Ok(Self(tokenizer))
    }

    /// Splits a text into chunks, at least one, each with `[CLS]` and `[SEP]`. A text of up to [`CHUNK_TOKENS`] is one chunk; a longer one
    /// becomes windows of 254 tokens plus these two, and neighbouring windows share [`OVERLAP`] tokens.
    ///
    /// # Errors
    /// The tokenizer's message.
    pub fn split(&self, text: &str, kind: TextKind) -> Result<Vec<Chunk>, String> {
        let encoded = self.0.encode(text, true).map_err(|e| format!("tokenizer: {e}"))?;
        let ids = encoded.get_ids();
        let mut chunks: Vec<Chunk> = match ids {
            [cls, own @ .., sep] if ids.len() > CHUNK_TOKENS => windows(own)
                .map(|window| Chunk { ids: [&[*cls], window, &[*sep]].concat(), words: Vec::new() })
                .collect(),
            _ => vec![Chunk { ids: ids.to_vec(), words: Vec::new() }],
        };
        for WordSpan { text, tokens } in word_spans(text, kind, ids, encoded.get_offsets()) {
            let first = position_of_token(tokens.start, chunks.len());
            let chunk = &mut chunks[first.chunk];
            let end = (first.index + tokens.len()).min(chunk.ids.len() - 1);
            chunk.words.push(WordSpan { text, tokens: first.index..end });
        }
        Ok(chunks)
    }
}

/// Splits tokens into windows of [`WINDOW`]; each starts [`OVERLAP`] tokens before the end of the previous one, and the last ends with
/// the text.
fn windows(tokens: &[u32]) -> impl Iterator<Item = &[u32]> {
    let starts = (0..tokens.len() - OVERLAP).step_by(STEP);
    starts.map(|start| &tokens[start..tokens.len().min(start + WINDOW)])
}

/// The chunk in which a token is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TokenPosition {
    /// Index of the chunk.
    chunk: usize,
    /// Index of the token in the chunk.
    index: usize,
}

/// Returns where the token with the number `token` of a text of `chunks` chunks is encoded. A token in an overlap belongs to the chunk in
/// which it has more context.
fn position_of_token(token: usize, chunks: usize) -> TokenPosition {
    let chunk = (token.saturating_sub(1 + OVERLAP / 2) / STEP).min(chunks - 1);
    TokenPosition { chunk, index: token - chunk * STEP }
}

/// Returns the content words that get a token sketch, with positions in the whole text, where `[CLS]` is token 0. `offsets` are the byte
/// ranges of the tokens.
fn word_spans(
    text: &str,
    kind: TextKind,
    ids: &[u32],
    offsets: &[(usize, usize)],
) -> Vec<WordSpan> {
    let body_start = match kind {
        TextKind::Query => 0,
        TextKind::Document => text.len() - compared_part(text).len(),
    };
    let mut words = Vec::new();
    let mut next = 0;
    for word in content_words(&text[body_start..]) {
        let (from, to) = (word.start + body_start, word.end + body_start);
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
            words.push(WordSpan { text: text[from..to].to_lowercase(), tokens: next..end });
        }
    }
    if kind == TextKind::Document { most_distinctive(words, ids) } else { words }
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
        let position = |token, chunks| {
            let TokenPosition { chunk, index } = position_of_token(token, chunks);
            (chunk, index)
        };
        assert_eq!(position(1, 1), (0, 1));
        assert_eq!(position(300, 1), (0, 300), "a text of one chunk has no other");
        // The second window starts at token 223 of the text; its own tokens begin with its 17th.
        assert_eq!((position(238, 2), position(239, 2)), ((0, 238), (1, 17)));
        assert_eq!(position(1 + 2 * STEP + 16, 3), (2, 17));
        assert_eq!(position(1 + 2 * STEP + 16, 2), (1, STEP + 17), "the last window has the rest");
    }
}
