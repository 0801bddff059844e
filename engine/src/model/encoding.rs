//! What the model reads in a text: a checked vector for each piece of it, and a code for each of its content words.
//!
//! Not here: making them (the daemon's embedding thread does), storing them (`db::vectors`, `db::codes`), which words have content (`soft`).

pub use crate::kernels::dot;
pub use crate::model::sign_code::{DIMENSIONS, SIGN_CODE_BYTES, SignCode};

/// A unit vector of [`DIMENSIONS`] finite numbers.
///
/// Nothing else can reach the database or the index: a model's NaN stops here.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

/// Why numbers are no embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// Not [`DIMENSIONS`] numbers.
    #[error("the vector has {0} numbers, not 384")]
    Length(usize),
    /// NaN or infinite.
    #[error("the vector holds a number that is not finite")]
    NotFinite,
    /// All zero, or so near to it that it has no direction.
    #[error("the vector has no direction")]
    Zero,
}

impl Embedding {
    /// Checks the numbers and scales them to length 1.
    ///
    /// # Errors
    /// [`EmbeddingError`] when they are not [`DIMENSIONS`] finite numbers, or all zero.
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

    /// A vector that was kept: where its length is 1 already its numbers stay as they are, bit by bit.
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

    /// The numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// The cosine between two embeddings, -1 to 1.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        dot(&self.0, &other.0)
    }
}

/// Most words of a memory that have a code: what a recall costs stays bounded, whatever the length of a text.
pub const MAX_SIGN_CODES: usize = 64;

/// What the model reads in a text to store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentEncoding {
    /// A vector for each piece; none while there is no model.
    pub pieces: Vec<Embedding>,
    /// A code for each content word, at most [`MAX_SIGN_CODES`]; none where the words were not read.
    pub words: Option<Vec<SignCode>>,
}

impl From<Vec<Embedding>> for DocumentEncoding {
    fn from(pieces: Vec<Embedding>) -> Self {
        Self { pieces, words: None }
    }
}

/// What the model reads in a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEncoding {
    /// Its meaning as a whole.
    pub vector: Embedding,
    /// Its content words, lower case, in order, each with its code.
    pub words: Vec<(String, SignCode)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_direction_or_is_not_finite_is_no_embedding() {
        assert_eq!(Embedding::new(vec![0.0; DIMENSIONS]), Err(EmbeddingError::Zero));
        assert_eq!(Embedding::new(vec![1.0; 3]), Err(EmbeddingError::Length(3)));
        for bad in [f32::NAN, f32::INFINITY] {
            let mut values = vec![1.0; DIMENSIONS];
            values[7] = bad;
            assert_eq!(Embedding::new(values), Err(EmbeddingError::NotFinite));
        }
    }

    #[test]
    fn an_embedding_has_length_one() {
        let embedding =
            Embedding::new((0..384).map(|i| i as f32 - 100.0).collect()).expect("has a direction");
        assert!((embedding.cosine(&embedding) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_code_is_the_signs_and_survives_being_stored() {
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
