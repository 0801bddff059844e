//! PURE: the vector of a chunk and the sign codes of its words, from the states of its tokens, for a model of any width.
//!
//! A vector with fewer than [`DIMENSIONS`] numbers is padded with zeros, which changes no cosine. Not here: the pinned model, whose graph
//! computes its vector itself (`onnx`).

use crate::embedding::chunk::{Chunk, WordSpan};
use crate::embedding::profile::{Pooling, Profile};
use loci_engine::model::encoding::{DIMENSIONS, SignCode};

/// The constant below the root in a layer norm, as in the reference of the models that have one.
const LAYER_NORM_EPSILON: f32 = 1e-5;

/// Returns the vector of a chunk of `tokens` tokens, of length 1. `states` has `width` numbers for each token.
pub(crate) fn vector(states: &[f32], width: usize, tokens: usize, profile: &Profile) -> Vec<f32> {
    let mut pooled = vec![0.0_f32; width];
    let counted = match profile.pooling {
        Pooling::Mean => tokens,
        Pooling::Cls => 1,
    };
    for state in states.chunks_exact(width).take(counted) {
        pooled.iter_mut().zip(state).for_each(|(sum, value)| *sum += value);
    }
    if profile.layer_norm {
        normalise_layer(&mut pooled, counted);
    }
    pooled.truncate(profile.dimensions.unwrap_or(width));
    let length = pooled.iter().map(|value| value * value).sum::<f32>().sqrt();
    let mut vector: Vec<f32> = pooled.iter().map(|value| value / length).collect();
    vector.resize(DIMENSIONS, 0.0);
    vector
}

/// Divides sums by their number, and scales the means to mean 0 and variance 1.
fn normalise_layer(sums: &mut [f32], count: usize) {
    for sum in sums.iter_mut() {
        *sum /= count.max(1) as f32;
    }
    let mean = sums.iter().sum::<f32>() / sums.len() as f32;
    let variance = sums.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / sums.len() as f32;
    let deviation = (variance + LAYER_NORM_EPSILON).sqrt();
    for value in sums {
        *value = (*value - mean) / deviation;
    }
}

/// Returns the sign code of each word: the signs of the sum of its tokens' states in the last layer, of the first [`DIMENSIONS`] numbers.
/// A narrower state is repeated, so that the share of differing signs stays the same.
pub(crate) fn sign_codes(states: &[f32], width: usize, chunk: &Chunk) -> Vec<SignCode> {
    let own = width.min(DIMENSIONS);
    let code = |word: &WordSpan| {
        let mut sum = [0.0_f32; DIMENSIONS];
        for token in word.tokens.clone() {
            let state = &states[token * width..][..own];
            sum.iter_mut().zip(state).for_each(|(sum, value)| *sum += value);
        }
        for at in own..DIMENSIONS {
            sum[at] = sum[at - own];
        }
        SignCode::of(&sum)
    };
    chunk.words.iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::model::encoding::Embedding;
    use proptest::prelude::*;

    fn cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
    }

    /// Returns states of three tokens, of numbers that are not all zero.
    #[expect(clippy::cast_possible_truncation, reason = "any numbers will do")]
    fn states(width: usize, seed: u64) -> Vec<f32> {
        let number = |at: usize| ((at as f64 + 1.0) * (seed as f64 + 1.3)).sin() as f32;
        (0..3 * width).map(number).collect()
    }

    proptest! {
        #[test]
        fn cutting_and_padding_keep_the_cosines_of_the_cut_vectors(
            width in 384..800_usize, kept in 64..=384_usize, seeds in (0..1000_u64, 0..1000_u64), layer_norm in any::<bool>()
        ) {
            let profile = Profile { dimensions: Some(kept), layer_norm, ..Profile::default() };
            let cut = |seed| vector(&states(width, seed), width, 3, &profile);
            let (a, b) = (cut(seeds.0), cut(seeds.1));
            prop_assert!(a.len() == DIMENSIONS && a[kept..].iter().all(|value| *value == 0.0));
            let exact = cosine(&a[..kept], &b[..kept]);
            let embedding = |vector| Embedding::new(vector).expect("the vector is valid");
            let padded = embedding(a).cosine(&embedding(b));
            prop_assert!((f64::from(padded) - exact).abs() < 1e-5, "{} {}", padded, exact);
        }

        #[test]
        fn a_narrow_state_keeps_the_share_of_differing_signs(seeds in (0..1000_u64, 0..1000_u64)) {
            let word = WordSpan { text: "word".to_owned(), tokens: 1..3, legibility: 1.0 };
            let chunk = Chunk { ids: vec![0; 3], words: vec![word] };
            let code = |seed, width| sign_codes(&states(width, seed), width, &chunk)[0];
            let signs = |seed| {
                let states = states(192, seed);
                (0..192).map(|at| states[192 + at] + states[384 + at] >= 0.0).collect::<Vec<_>>()
            };
            let (a, b) = (signs(seeds.0), signs(seeds.1));
            let differing = a.iter().zip(&b).filter(|(a, b)| a != b).count();
            prop_assert_eq!(code(seeds.0, 192).distance(&code(seeds.1, 192)) as usize, 2 * differing);
        }
    }

    #[test]
    fn cls_pooling_is_the_first_token_and_a_layer_norm_has_mean_zero() {
        let states = states(384, 5);
        let cls = Profile { pooling: Pooling::Cls, ..Profile::default() };
        assert!((cosine(&vector(&states, 384, 3, &cls), &states[..384]) - 1.0).abs() < 1e-6);
        let normed = Profile { layer_norm: true, ..Profile::default() };
        let vector = vector(&states, 384, 3, &normed);
        assert!(vector.iter().sum::<f32>().abs() < 1e-4);
    }
}
