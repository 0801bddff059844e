//! A checked vector, and the model that it came from.
//!
//! Not here: making vectors (the daemon's embedding thread does), storing them (`db::vectors`).

/// Numbers in one embedding.
pub const DIMENSIONS: usize = 384;

/// A unit vector of [`DIMENSIONS`] finite numbers.
///
/// Nothing else can reach the database or the index: a model's NaN stops here.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

/// Why numbers are no embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
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
    /// [`Flaw`] when they are not [`DIMENSIONS`] finite numbers, or all zero.
    pub fn new(values: Vec<f32>) -> Result<Self, Flaw> {
        if values.len() != DIMENSIONS {
            return Err(Flaw::Length(values.len()));
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err(Flaw::NotFinite);
        }
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length < 1e-6 {
            return Err(Flaw::Zero);
        }
        Ok(Self(values.into_iter().map(|v| v / length).collect()))
    }

    /// A vector that was kept: where its length is 1 already its numbers stay as they are, bit by bit.
    ///
    /// # Errors
    /// As [`Embedding::new`].
    pub fn kept(values: Vec<f32>) -> Result<Self, Flaw> {
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let checked = Self::new(values.clone())?;
        if (length - 1.0).abs() > 1e-3 { Ok(checked) } else { Ok(Self(values.into())) }
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

/// The dot product, summed in 16 lanes so that the compiler can keep them in vector registers.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for lane in 0..16 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_direction_or_is_not_finite_is_no_embedding() {
        assert_eq!(Embedding::new(vec![0.0; DIMENSIONS]), Err(Flaw::Zero));
        assert_eq!(Embedding::new(vec![1.0; 3]), Err(Flaw::Length(3)));
        for bad in [f32::NAN, f32::INFINITY] {
            let mut values = vec![1.0; DIMENSIONS];
            values[7] = bad;
            assert_eq!(Embedding::new(values), Err(Flaw::NotFinite));
        }
    }

    #[test]
    fn an_embedding_has_length_one() {
        let embedding = Embedding::new((0..384).map(|i| i as f32 - 100.0).collect()).expect("has a direction");
        assert!((embedding.cosine(&embedding) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn dot_counts_the_remainder() {
        let ones = vec![1.0; 35];
        assert!((dot(&ones, &ones) - 35.0).abs() < f32::EPSILON);
    }
}
