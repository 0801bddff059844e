//! Soft word match: how well each word of a question is met by a memory's words as the model understands them. Pure.
//!
//! Source: `soft_matches` and `weights` of the reference. The signs of two states agree as their angle is (Charikar, "Similarity
//! estimation techniques from rounding algorithms", 2002), so that `sin(pi/2 * (1 - 2 * distance / 384))` estimates their cosine.

use crate::kernels;
use crate::kernels::Eight;
use crate::model::encoding::{DIMENSIONS, SignCode};
use std::sync::LazyLock;

/// One word of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word {
    pub code: SignCode,
    /// Its share of the whole match; all words together have 1.
    pub weight: f64,
}

/// The cosine that each distance stands for.
static COSINES: LazyLock<[f64; DIMENSIONS + 1]> = LazyLock::new(|| {
    std::array::from_fn(|distance| {
        (std::f64::consts::FRAC_PI_2 * (1.0 - 2.0 * distance as f64 / DIMENSIONS as f64)).sin()
    })
});

/// The codes of some words, eight side by side as the kernel reads them.
pub(crate) fn side_by_side(words: &[Word]) -> Vec<Eight> {
    let eight = |words: &[Word]| {
        let mut eight = Eight::default();
        for (at, word) in words.iter().enumerate() {
            eight.iter_mut().zip(word.code.lanes()).for_each(|(of_lane, lane)| of_lane[at] = *lane);
        }
        eight
    };
    words.chunks(8).map(eight).collect()
}

/// For each word of a question the best match among a memory's words, -1 to 1; 0 in a memory without words.
pub(crate) fn matches(asked: &[Eight], of_memory: &[SignCode], into: &mut [f64]) {
    if of_memory.is_empty() {
        into.fill(0.0);
        return;
    }
    for (eight, into) in asked.iter().zip(into.chunks_mut(8)) {
        let nearest = kernels::nearest(eight, into.len(), of_memory);
        for (best, distance) in into.iter_mut().zip(nearest) {
            *best = usize::try_from(distance)
                .ok()
                .and_then(|distance| COSINES.get(distance))
                .copied()
                .unwrap_or(0.0);
        }
    }
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
    if sum > 0.0 {
        weights.iter().map(|weight| weight / sum).collect()
    } else {
        vec![1.0 / having.len().max(1) as f64; having.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(seed: u64) -> SignCode {
        let bit = |i: u64| {
            (seed
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add(i.wrapping_mul(0xbf58_476d_1ce4_e5b9))
                >> 33)
                & 1
        };
        SignCode::of(&(0..384).map(|i| if bit(i) == 1 { 1.0 } else { -1.0 }).collect::<Vec<f32>>())
    }

    #[test]
    fn the_same_word_matches_whole_and_the_opposite_against() {
        let (one, opposite) = (SignCode::of(&[1.0; 384]), SignCode::of(&[-1.0; 384]));
        let mut found = [0.0; 2];
        let asked = [Word { code: one, weight: 0.5 }, Word { code: opposite, weight: 0.5 }];
        let asked = side_by_side(&asked);
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
        assert!(
            small.iter().all(|weight| (weight - 0.5).abs() < 1e-12),
            "a store too small to tell words apart"
        );
    }

    proptest! {
        /// However many words a question has: the kernel takes eight at once.
        #[test]
        fn every_word_meets_its_nearest(asked in prop::collection::vec(any::<u64>(), 0..20), seeds in prop::collection::vec(any::<u64>(), 1..20)) {
            let codes: Vec<SignCode> = seeds.into_iter().map(code).collect();
            let words: Vec<Word> = asked.into_iter().map(|seed| Word { code: code(seed), weight: 0.1 }).collect();
            let mut found = vec![0.0; words.len()];
            matches(&side_by_side(&words), &codes, &mut found);
            for (word, found) in words.iter().zip(found) {
                let distance = codes.iter().map(|other| word.code.distance(other)).min().unwrap_or(0);
                prop_assert_eq!(found.to_bits(), COSINES[distance as usize].to_bits());
            }
        }
    }
}
