//! From a text to the token ids that the model reads: one piece, or windows of a long text.
//!
//! Not here: running them (`onnx`), putting them together in runs (`round`).

use tokenizers::Tokenizer;

/// Tokens of one piece, `[CLS]` and `[SEP]` included. The model was trained on up to 256.
pub const PIECE_TOKENS: usize = 256;

/// Tokens that two neighbouring windows of a long text share.
pub const OVERLAP: usize = 32;

/// Tokens of a window that are the text's own.
const WINDOW: usize = PIECE_TOKENS - 2;

/// The tokenizer, set up for pieces.
pub struct Pieces(Tokenizer);

impl Pieces {
    /// Reads a `tokenizer.json`. The file itself asks for cutting at 128 tokens and padding to 128; neither is done.
    ///
    /// # Errors
    /// What the tokenizer said, when the text is no tokenizer.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|e| format!("tokenizer.json: {e}"))?;
        // Windows are cut here: with a truncation set, tokenizers 0.23 stops reading at its limit, and the overflow is lost.
        tokenizer.with_padding(None).with_truncation(None).map_err(|e| format!("tokenizer.json: {e}"))?;
        Ok(Self(tokenizer))
    }

    /// The pieces of a text, at least one, each with `[CLS]` and `[SEP]`: a text of up to [`PIECE_TOKENS`] is one piece, a longer
    /// one windows of 254 tokens of its own, of which neighbours share [`OVERLAP`].
    ///
    /// # Errors
    /// What the tokenizer said.
    pub fn of(&self, text: &str) -> Result<Vec<Vec<u32>>, String> {
        let encoded = self.0.encode_fast(text, true).map_err(|e| format!("the tokenizer: {e}"))?;
        let ids = encoded.get_ids();
        match ids {
            [start, own @ .., end] if ids.len() > PIECE_TOKENS => {
                Ok(windows(own).map(|window| [&[*start], window, &[*end]].concat()).collect())
            }
            _ => Ok(vec![ids.to_vec()]),
        }
    }
}

/// Windows of [`WINDOW`], each beginning [`OVERLAP`] before the end of the one before; the last ends where the text does.
fn windows(own: &[u32]) -> impl Iterator<Item = &[u32]> {
    let starts = (0..own.len() - OVERLAP).step_by(WINDOW - OVERLAP);
    starts.map(|start| &own[start..own.len().min(start + WINDOW)])
}
