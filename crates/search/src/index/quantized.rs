//! A vector quantised to 16-bit integers, stored as a plane of high bytes and a plane of low bytes.
//!
//! The size of a step is the largest number of the vector divided by [`STEPS`], so a cosine has an
//! error of a few millionths. The high bytes alone give it to a thousandth, unless a few numbers
//! are by far the largest. All sums are integers and equal on every machine. Not here: where
//! vectors are stored (`vectors`), the loops (`kernels`).

use loci_base::kernels;
use loci_base::kernels::VectorBytes;
use loci_base::model::encoding::{DIMENSIONS, Embedding};

/// Steps of the largest number of a vector: both bytes are used fully.
const STEPS: f32 = 127.0 * 256.0 + 127.0;
/// Weight of the high byte in steps of the low byte.
const HIGH: f64 = 256.0;

/// A stored vector: the high and the low byte of each number, and the size of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// The upper eight bits of each number.
    pub high: &'a VectorBytes,
    /// The lower eight bits of each number.
    pub low: &'a VectorBytes,
    /// The value of one step of the numbers.
    pub step: f32,
}

/// An owned quantised vector, to be stored or to query with.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVector {
    /// The upper eight bits of each number.
    pub high: VectorBytes,
    /// The lower eight bits of each number.
    pub low: VectorBytes,
    /// The value of one step of the numbers.
    pub step: f32,
}

impl QuantizedVector {
    /// Quantises a vector; `None` if it has no direction or a number that is not finite, as in a
    /// damaged database.
    pub fn checked(vector: &[f32]) -> Option<Self> {
        let sound = vector.len() == DIMENSIONS
            && vector.iter().all(|value| value.is_finite())
            && vector.iter().any(|value| *value != 0.0);
        sound.then(|| Self::of(vector))
    }

    /// Quantises a vector that is known to be sound.
    #[expect(clippy::cast_possible_truncation, reason = "two bytes hold -STEPS to STEPS")]
    pub fn of(vector: &[f32]) -> Self {
        let step = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()))
            / STEPS;
        let (mut steps, mut high, mut low) =
            ([0_i16; DIMENSIONS], [0; DIMENSIONS], [0; DIMENSIONS]);
        kernels::quantise(vector, step, STEPS, &mut steps);
        for ((high, low), steps) in high.iter_mut().zip(&mut low).zip(steps) {
            *high = ((steps + 128) >> 8) as i8;
            *low = (steps - (i16::from(*high) << 8)) as i8;
        }
        Self { high, low, step }
    }

    /// Returns whether [`Self::of`] can have produced these bytes.
    pub fn is_sound(&self) -> bool {
        self.step.is_finite() && self.step > 0.0 && !self.high.contains(&i8::MIN)
    }

    /// Returns the vector as a borrowed row.
    pub fn row(&self) -> Row<'_> {
        Row { high: &self.high, low: &self.low, step: self.step }
    }

    /// Returns the cosines to four rows.
    pub fn cosines(&self, rows: [Row<'_>; 4]) -> [f32; 4] {
        let [high, low] =
            kernels::whole_products([&self.high, &self.low], rows.map(|row| (row.high, row.low)));
        std::array::from_fn(|row| {
            self.cosine(f64::from(high[row]) * HIGH + f64::from(low[row]), rows[row].step)
        })
    }

    /// Returns the cosines to four rows by their high bytes alone.
    pub fn approx_cosines(&self, rows: [Row<'_>; 4]) -> [f32; 4] {
        let products = kernels::products(&self.high, rows.map(|row| row.high));
        std::array::from_fn(|row| {
            self.cosine(f64::from(products[row]) * HIGH * HIGH, rows[row].step)
        })
    }

    /// Converts a sum of products, in steps of both vectors, into a cosine; sums of this size are
    /// exact in f64.
    #[expect(clippy::cast_possible_truncation, reason = "a cosine is given in f32")]
    fn cosine(&self, product: f64, step: f32) -> f32 {
        (product * f64::from(self.step) * f64::from(step)) as f32
    }
}

impl Row<'_> {
    /// Returns its numbers as multiples of the step.
    pub fn steps(&self) -> [i16; DIMENSIONS] {
        std::array::from_fn(|at| (i16::from(self.high[at]) << 8) + i16::from(self.low[at]))
    }

    /// Returns its numbers.
    pub fn numbers(&self) -> Vec<f32> {
        self.steps().iter().map(|steps| f32::from(*steps) * self.step).collect()
    }

    /// Returns whether it is the quantised form of a vector.
    pub fn is_of(&self, vector: &[f32]) -> bool {
        QuantizedVector::checked(vector).is_some_and(|quantized| quantized.row() == *self)
    }

    /// Returns an owned copy.
    pub fn to_owned_vector(self) -> QuantizedVector {
        QuantizedVector { high: *self.high, low: *self.low, step: self.step }
    }
}

impl From<&Embedding> for QuantizedVector {
    fn from(vector: &Embedding) -> Self {
        Self::of(vector.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_testkit::between_axes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cosines_of_quantised_vectors_are_close_to_the_exact_ones(numbers in prop::collection::vec(-1.0..1.0_f32, DIMENSIONS), about in 0..9_usize, apart in 0.0..1.0_f32) {
            let (Ok(one), other) = (Embedding::new(numbers), between_axes(about, about + 9, apart)) else { return Ok(()) };
            let (query, stored) = (QuantizedVector::from(&one), QuantizedVector::from(&other));
            let row = stored.row();
            let exact = one.cosine(&other);
            prop_assert!((query.cosines([row; 4])[2] - exact).abs() < 1e-5);
            prop_assert!((query.approx_cosines([row; 4])[1] - exact).abs() < 0.01);
            prop_assert!(row.is_of(other.as_slice()) && !row.is_of(one.as_slice()) && row.to_owned_vector() == stored);
            prop_assert!(row.numbers().iter().zip(other.as_slice()).all(|(stored, original)| (stored - original).abs() <= row.step * 0.51));
        }
    }

    #[test]
    fn a_vector_without_direction_is_rejected() {
        let with = |number: f32| {
            (0..DIMENSIONS).map(|at| if at == 7 { number } else { 0.0 }).collect::<Vec<f32>>()
        };
        assert!(
            [0.0, f32::NAN, f32::INFINITY]
                .iter()
                .all(|number| QuantizedVector::checked(&with(*number)).is_none())
        );
        let quantized = QuantizedVector::checked(&with(0.5)).expect("the vector has a direction");
        assert!(quantized.is_sound() && !quantized.row().is_of(&with(f32::NAN)));
        assert!(
            [0.0, -1.0, f32::NAN, f32::INFINITY].iter().all(|step| !QuantizedVector {
                step: *step,
                ..quantized.clone()
            }
            .is_sound())
        );
    }

    #[test]
    fn the_largest_number_fits_with_either_sign() {
        for sign in [1.0, -1.0] {
            let vector: Vec<f32> = (0..DIMENSIONS).map(|at| sign / (at + 1) as f32).collect();
            assert_eq!(
                i16::from(QuantizedVector::of(&vector).high[0]),
                if sign > 0.0 { 127 } else { -127 }
            );
        }
    }
}
