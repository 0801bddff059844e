//! Vectors of models with fewer dimensions, padded with zeros: every cosine is that of the numbers without the padding.
//!
//! Not here: what a search finds with them (`coarse_to_fine`).

use crate::index::QuantizedVector;
use crate::model::encoding::{DIMENSIONS, Embedding};
use proptest::prelude::*;

/// Returns the cosine of the first `kept` numbers, in 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "compared with a tolerance")]
fn exact_cosine(one: &[f32], other: &[f32], kept: usize) -> f32 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).take(kept).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    (dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()) as f32
}

fn padded(numbers: &[f32], kept: usize) -> Option<Embedding> {
    let mut padded = numbers[..kept].to_vec();
    padded.resize(DIMENSIONS, 0.0);
    Embedding::new(padded).ok()
}

proptest! {
    #[test]
    fn padding_changes_no_cosine_and_no_kernel(
        one in prop::collection::vec(-1.0..1.0_f32, DIMENSIONS),
        other in prop::collection::vec(-1.0..1.0_f32, DIMENSIONS),
        kept in 64..=DIMENSIONS,
    ) {
        let (Some(a), Some(b)) = (padded(&one, kept), padded(&other, kept)) else { return Ok(()) };
        let exact = exact_cosine(&one, &other, kept);
        prop_assert!((a.cosine(&b) - exact).abs() < 1e-5);
        let (query, stored) = (QuantizedVector::from(&a), QuantizedVector::from(&b));
        let row = stored.row();
        prop_assert!(row.numbers()[kept..].iter().all(|number| *number == 0.0));
        prop_assert!((query.cosines([row; 4])[0] - exact).abs() < 1e-5);
        prop_assert!((query.approx_cosines([row; 4])[0] - exact).abs() < 0.01);
    }
}
