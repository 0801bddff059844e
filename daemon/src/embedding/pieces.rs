//! From a text to the token ids that the model reads: one piece, or windows of a long text.
//!
//! Not here: running them (`onnx`), putting them together in runs (`round`).

use tokenizers::{Tokenizer, TruncationParams};

/// Tokens of one piece, `[CLS]` and `[SEP]` included. The model was trained on up to 256.
pub const PIECE_TOKENS: usize = 256;

/// Tokens that two neighbouring windows of a long text share.
pub const OVERLAP: usize = 32;

/// The tokenizer, set up for pieces.
pub struct Pieces(Tokenizer);

impl Pieces {
    /// Reads a `tokenizer.json`. The file itself asks for cutting at 128 tokens and padding to 128; both are replaced.
    ///
    /// # Errors
    /// What the tokenizer said, when the text is no tokenizer.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|e| format!("tokenizer.json: {e}"))?;
        let windows = TruncationParams { max_length: PIECE_TOKENS, stride: OVERLAP, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(windows)).map_err(|e| format!("tokenizer.json: {e}"))?;
        Ok(Self(tokenizer))
    }

    /// The pieces of a text, at least one, each with `[CLS]` and `[SEP]`: a text of up to [`PIECE_TOKENS`] is one piece, a longer
    /// one windows of 254 tokens of its own, of which neighbours share [`OVERLAP`].
    ///
    /// # Errors
    /// What the tokenizer said.
    pub fn of(&self, text: &str) -> Result<Vec<Vec<u32>>, String> {
        let mut first = self.0.encode_fast(text, true).map_err(|e| format!("the tokenizer: {e}"))?;
        let further = first.take_overflowing();
        Ok(std::iter::once(&first).chain(&further).map(|piece| piece.get_ids().to_vec()).collect())
    }
}
