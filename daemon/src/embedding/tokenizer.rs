//! The tokenizer of a model: that of a `tokenizer.json`, or the pieces of a vocabulary.
//!
//! Not here: windows of a long text, and the words (`chunk`).

use crate::embedding::unigram::{self, Unigram};
use tokenizers::Tokenizer;

/// The token of a `tokenizer.json` that stands for what the vocabulary does not know.
const UNKNOWN: &str = "[UNK]";
/// Letters of a piece, on average, from which an English model reads a word; about 98 % of the words in English questions reach it.
const LEGIBLE_PIECE: f32 = 3.0;

/// A tokenizer.
pub enum TextTokenizer {
    /// Of a `tokenizer.json`.
    Json(Box<Tokenizer>),
    /// Of a vocabulary.
    Unigram(Box<Unigram>),
}

/// The tokens of a text, with the first and the last one that every text has.
pub(crate) struct TextTokens {
    /// Their numbers.
    pub ids: Vec<u32>,
    /// The bytes of the text from which each comes; empty at 0 for the first and the last one.
    pub ranges: Vec<(usize, usize)>,
}

impl TextTokenizer {
    /// Parses a `tokenizer.json`. Its own truncation to 128 tokens and padding to 128 tokens are switched off.
    ///
    /// # Errors
    /// The tokenizer's message.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let failed = |error| format!("tokenizer.json: {error}");
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(failed)?;
        // The windows are made later: with truncation, tokenizers 0.23 stops reading at its limit and loses the rest.
        tokenizer.with_padding(None).with_truncation(None).map_err(failed)?;
        Ok(Self::Json(Box::new(tokenizer)))
    }

    /// Returns the tokens of a text.
    ///
    /// # Errors
    /// The tokenizer's message.
    pub(crate) fn tokens(&self, text: &str) -> Result<TextTokens, String> {
        match self {
            Self::Json(tokenizer) => {
                let encoded =
                    tokenizer.encode(text, true).map_err(|error| format!("tokenizer: {error}"))?;
                let (ids, ranges) = (encoded.get_ids().to_vec(), encoded.get_offsets().to_vec());
                Ok(TextTokens { ids, ranges })
            }
            Self::Unigram(unigram) => {
                let (ids, ranges) = unigram.cut(text);
                Ok(TextTokens { ids, ranges })
            }
        }
    }

    /// Returns the mean length of the pieces of a word, in letters, from which the model reads the whole word. A model of many languages has
    /// some in which a letter is a word.
    pub(crate) fn legible_piece(&self) -> f32 {
        match self {
            Self::Json(_) => LEGIBLE_PIECE,
            Self::Unigram(_) => 1.0,
        }
    }

    /// Returns the token that stands for what the vocabulary does not know.
    pub(crate) fn unknown(&self) -> Option<u32> {
        match self {
            Self::Json(tokenizer) => tokenizer.token_to_id(UNKNOWN),
            Self::Unigram(_) => Some(unigram::UNKNOWN),
        }
    }
}
