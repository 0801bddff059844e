//! The encoding of a text by the model: a checked vector for each chunk, and a sign code for each
//! content word.
//!
//! Not here: computing them (the daemon's embedding worker), storing them (`db::vectors`,
//! `db::codes`), which words are content words (`text::features`).

pub use crate::kernels::dot;
pub use crate::model::sign_code::{DIMENSIONS, SIGN_CODE_BYTES, SignCode};
use std::sync::Arc;

/// A unit vector of [`DIMENSIONS`] finite numbers.
///
/// The constructor rejects other values, for example a NaN from the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

/// The reason why values are not an embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// The number of values is not [`DIMENSIONS`].
    #[error("the vector has {0} numbers, not 384")]
    Length(usize),
    /// A value is NaN or infinite.
    #[error("the vector contains a number that is not finite")]
    NotFinite,
    /// All values are zero, or so close to it that the vector has no direction.
    #[error("the vector has no direction")]
    Zero,
}

impl Embedding {
    /// Checks the numbers and scales them to length 1.
    ///
    /// # Errors
    /// [`EmbeddingError`] if they are not [`DIMENSIONS`] finite numbers, or all zero.
    pub fn new(values: Vec<f32>) -> Result<Self, EmbeddingError> {
        if values.len() != DIMENSIONS {
            return Err(EmbeddingError::Length(values.len()));
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err(EmbeddingError::NotFinite);
        }
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length < 1e-6 {
            return Err(EmbeddingError::Zero);
        }
        Ok(Self(values.into_iter().map(|v| v / length).collect()))
    }

    /// Restores a stored vector. If its length is 1, its numbers stay the same bit by bit;
    /// otherwise it is scaled.
    ///
    /// # Errors
    /// As [`Embedding::new`].
    pub fn kept(values: Vec<f32>) -> Result<Self, EmbeddingError> {
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if values.len() == DIMENSIONS && (length - 1.0).abs() <= 1e-3 {
            Ok(Self(values.into()))
        } else {
            Self::new(values)
        }
    }

    /// Returns the numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// Returns the cosine of two embeddings, -1 to 1.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        dot(&self.0, &other.0)
    }
}

/// Maximum number of sign codes of a memory, so that the cost of a recall does not grow with the
/// length of texts.
pub const MAX_SIGN_CODES: usize = 64;

/// The encoding of a text to store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentEncoding {
    /// A vector for each chunk; empty without a model.
    pub vectors: Vec<Embedding>,
    /// A sign code for each content word, at most [`MAX_SIGN_CODES`]; `None` if the words were not
    /// encoded.
    pub words: Option<Vec<SignCode>>,
}

impl From<Vec<Embedding>> for DocumentEncoding {
    fn from(vectors: Vec<Embedding>) -> Self {
        Self { vectors, words: None }
    }
}

/// The encoding of a text by one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelEncoding {
    /// The id of the model.
    pub model: Arc<str>,
    /// The encoding.
    pub encoding: DocumentEncoding,
}

/// The encodings of one text to store: by the model in use, and by the next one while all memories
/// are being encoded again. Empty without a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextEncodings(Vec<ModelEncoding>);

impl TextEncodings {
    /// Returns the encoding by a model; `None` if the model did not encode the text.
    pub fn by(&self, model: &str) -> Option<&DocumentEncoding> {
        self.0.iter().find(|encoded| &*encoded.model == model).map(|encoded| &encoded.encoding)
    }

    /// Returns true if no model has encoded the text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ModelEncoding> for TextEncodings {
    fn from_iter<T: IntoIterator<Item = ModelEncoding>>(encodings: T) -> Self {
        Self(encodings.into_iter().collect())
    }
}

/// A content word of a query, as the model reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWord {
    /// The word in lower case.
    pub text: String,
    /// The signs of its token states.
    pub code: SignCode,
    /// How much of it the model can read, 0 to 1: 0 for a word that its vocabulary does not know or cuts into letters.
    pub legibility: f32,
}

/// The encoding of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEncoding {
    /// The id of the model.
    pub model: Arc<str>,
    /// The vector of the whole query.
    pub vector: Embedding,
    /// Its content words, in order.
    pub words: Vec<QueryWord>,
    /// False if the model gives no sign codes at all: words are then matched by BM25 alone.
    pub has_sign_codes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_or_have_no_direction_are_refused() {
        assert_eq!(Embedding::new(vec![0.0; DIMENSIONS]), Err(EmbeddingError::Zero));
        assert_eq!(Embedding::new(vec![1.0; 3]), Err(EmbeddingError::Length(3)));
        for value in [f32::NAN, f32::INFINITY] {
            let mut values = vec![1.0; DIMENSIONS];
            values[7] = value;
            assert_eq!(Embedding::new(values), Err(EmbeddingError::NotFinite));
        }
    }

    #[test]
    fn an_embedding_has_length_one() {
        let embedding = Embedding::new((0..384).map(|i| i as f32 - 100.0).collect())
            .expect("the vector has a direction");
        assert!((embedding.cosine(&embedding) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_sign_code_survives_storage() {
        let state: Vec<f32> =
            (0..384).map(|i| if i % 3 == 0 { -1.0 } else { f32::from(i % 5 == 0) }).collect();
        let code = SignCode::of(&state);
        assert_eq!(SignCode::from_bytes(&code.bytes()), code);
        assert_eq!(
            code.bytes()[0],
            0b1011_0110,
            "the first dimension is the lowest bit; zero is positive"
        );
        assert_eq!(code.distance(&SignCode::of(&[-1.0; 384])), 256);
        assert_eq!(code.distance(&code), 0);
    }
}
