//! Soft word match: how well each word of a question is met by a memory's words as the model understands them. Pure.
//!
//! Source: `soft_matches` and `weights` of the reference. The signs of two states agree as their angle is (Charikar, "Similarity
//! estimation techniques from rounding algorithms", 2002), so that `sin(pi/2 * (1 - 2 * distance / 384))` estimates their cosine.

use crate::embedding::{Code, DIMENSIONS};
use std::sync::LazyLock;

/// One word of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word {
    pub code: Code,
    /// Its share of the whole match; all words together have 1.
    pub weight: f64,
}

/// The cosine that each distance stands for.
static COSINES: LazyLock<[f64; DIMENSIONS + 1]> = LazyLock::new(|| {
    std::array::from_fn(|distance| (std::f64::consts::FRAC_PI_2 * (1.0 - 2.0 * distance as f64 / DIMENSIONS as f64)).sin())
});

/// For each word of a question the best match among a memory's words, -1 to 1; 0 in a memory without words.
pub(crate) fn matches(asked: &[Word], of_memory: &[Code], into: &mut [f64]) {
    for (word, best) in asked.iter().zip(into) {
        let nearest = nearest(&word.code, of_memory);
        *best = nearest.map_or(0.0, |distance| COSINES[distance as usize]);
    }
}

/// The least distance, by the fastest instructions of this machine.
fn nearest(code: &Code, codes: &[Code]) -> Option<u32> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction, as was just found.
        return unsafe { nearest_by_popcnt(code, codes) };
    }
    nearest_portable(code, codes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn nearest_by_popcnt(code: &Code, codes: &[Code]) -> Option<u32> {
    nearest_portable(code, codes)
}

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn nearest_portable(code: &Code, codes: &[Code]) -> Option<u32> {
    codes.iter().map(|other| code.distance(other)).min()
}

/// The share of each word: the square root of BM25's idf. A word on half of the memories or more has none; one that no memory has has
/// most, since it can only be met by meaning. `having` counts the memories that have each word, of `all`.
pub(crate) fn weights(having: &[usize], all: usize) -> Vec<f64> {
    let weight = |having: &usize| {
        let (all, having) = (all as f64, *having as f64);
        ((all - having + 0.5) / (having + 0.5)).ln().max(0.0).sqrt()
    };
    let weights: Vec<f64> = having.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 { weights.iter().map(|weight| weight / sum).collect() } else { vec![1.0 / having.len().max(1) as f64; having.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(seed: u64) -> Code {
        let bit = |i: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i.wrapping_mul(0xbf58_476d_1ce4_e5b9)) >> 33) & 1;
        Code::of(&(0..384).map(|i| if bit(i) == 1 { 1.0 } else { -1.0 }).collect::<Vec<f32>>())
    }

    #[test]
    fn the_same_word_matches_whole_and_the_opposite_against() {
        let (one, opposite) = (Code::of(&[1.0; 384]), Code::of(&[-1.0; 384]));
        let mut found = [0.0; 2];
        let asked = [Word { code: one, weight: 0.5 }, Word { code: opposite, weight: 0.5 }];
        matches(&asked, &[one], &mut found);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] + 1.0).abs() < 1e-12);
        matches(&asked, &[], &mut found);
        assert!(found.iter().all(|match_| match_.abs() < 1e-12));
    }

    #[test]
    fn rare_words_weigh_most_and_words_that_stand_everywhere_nothing() {
        let weights = weights(&[0, 3, 60], 100);
        assert!(weights[0] > weights[1] && weights[1] > 0.0 && weights[2].abs() < 1e-12);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let small = super::weights(&[1, 2], 2);
        assert!(small.iter().all(|weight| (weight - 0.5).abs() < 1e-12), "a store too small to tell words apart");
    }

    proptest! {
        #[test]
        fn every_kernel_gives_what_the_portable_one_gives(asked in any::<u64>(), seeds in prop::collection::vec(any::<u64>(), 0..80)) {
            let codes: Vec<Code> = seeds.into_iter().map(code).collect();
            prop_assert_eq!(nearest(&code(asked), &codes), nearest_portable(&code(asked), &codes));
        }
    }
}
