//! Late interaction: how well each query term is matched by the tokens of a memory, as the model
//! encodes them. Pure.
//!
//! Every token is stored as the signs of its hidden state. The share of equal signs of two states
//! estimates the angle between them (Charikar, "Similarity estimation techniques from rounding
//! algorithms", 2002), so `sin(pi/2 * (1 - 2 * distance / 384))` estimates their cosine. Source:
//! `soft_matches` and `weights` of the reference.

use crate::ranking::late_interaction::weights::EVENT_TERM_FACTOR;
use loci_base::kernels;
use loci_base::kernels::EightCodes;
use loci_base::model::encoding::{DIMENSIONS, SignCode};
use std::sync::LazyLock;

/// One content word of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryTerm {
    /// Sign code of its token state.
    pub code: SignCode,
    /// Share of the whole match, 0 to 1; the weights of all terms add up to 1.
    pub weight: f64,
    /// How much of it the model can read, 0 to 1.
    pub legibility: f64,
}

/// Estimated cosine by Hamming distance.
static COSINES: LazyLock<[f64; DIMENSIONS + 1]> = LazyLock::new(|| {
    std::array::from_fn(|distance| {
        (std::f64::consts::FRAC_PI_2 * (1.0 - 2.0 * distance as f64 / DIMENSIONS as f64)).sin()
    })
});

/// Interleaves the codes of the terms in groups of eight, as the kernel reads them.
pub(crate) fn interleave(terms: &[QueryTerm]) -> Vec<EightCodes> {
    let eight = |terms: &[QueryTerm]| {
        let mut eight = EightCodes::default();
        for (at, term) in terms.iter().enumerate() {
            eight.iter_mut().zip(term.code.lanes()).for_each(|(of_lane, lane)| of_lane[at] = *lane);
        }
        eight
    };
    terms.chunks(8).map(eight).collect()
}

/// Writes, for each query term, its best match among the tokens of a memory, -1 to 1; 0 for a
/// memory without tokens.
pub(crate) fn best_matches(terms: &[EightCodes], tokens: &[SignCode], matches: &mut [f64]) {
    if tokens.is_empty() {
        matches.fill(0.0);
        return;
    }
    for (eight, matches) in terms.iter().zip(matches.chunks_mut(8)) {
        let nearest = kernels::nearest(eight, matches.len(), tokens);
        for (best, distance) in matches.iter_mut().zip(nearest) {
            *best = usize::try_from(distance)
                .ok()
                .and_then(|distance| COSINES.get(distance))
                .copied()
                .unwrap_or(0.0);
        }
    }
}

/// The weight of each term: the square root of BM25's idf, normalised to a sum of 1.
///
/// `doc_freqs` has for each term how many of the `memories` admitted memories contain it. A term
/// that at least half of them contain has weight 0; a term that none contains has the largest
/// weight, since only its vector can match. If all weights would be 0, they are equal.
pub(crate) fn term_weights(doc_freqs: &[usize], memories: usize) -> Vec<f64> {
    let weight = |doc_freq: &usize| {
        let (memories, doc_freq) = (memories as f64, *doc_freq as f64);
        ((memories - doc_freq + 0.5) / (doc_freq + 0.5)).ln().max(0.0).sqrt()
    };
    let weights: Vec<f64> = doc_freqs.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        weights.iter().map(|weight| weight / sum).collect()
    } else {
        vec![1.0 / doc_freqs.len().max(1) as f64; doc_freqs.len()]
    }
}

/// Reduces the weights of the terms that only describe an event used as a time reference, and
/// normalises all weights to a sum of 1 again.
pub(crate) fn down_weight(
    terms: Vec<(&str, QueryTerm)>,
    is_event_word: impl Fn(&str) -> bool,
) -> Vec<QueryTerm> {
    let factor = |word: &str| if is_event_word(word) { EVENT_TERM_FACTOR } else { 1.0 };
    let sum: f64 = terms.iter().map(|(word, term)| factor(word) * term.weight).sum();
    let reduced = |(word, term): (&str, QueryTerm)| QueryTerm {
        weight: if sum > 0.0 { factor(word) * term.weight / sum } else { term.weight },
        ..term
    };
    terms.into_iter().map(reduced).collect()
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

    fn term(code: SignCode, weight: f64) -> QueryTerm {
        QueryTerm { code, weight, legibility: 1.0 }
    }

    #[test]
    fn the_same_token_matches_fully_and_the_opposite_negatively() {
        let (one, opposite) = (SignCode::of(&[1.0; 384]), SignCode::of(&[-1.0; 384]));
        let mut matches = [0.0; 2];
        let terms = interleave(&[term(one, 0.5), term(opposite, 0.5)]);
        best_matches(&terms, &[one], &mut matches);
        assert!((matches[0] - 1.0).abs() < 1e-12 && (matches[1] + 1.0).abs() < 1e-12);
        best_matches(&terms, &[], &mut matches);
        assert!(matches.iter().all(|value| value.abs() < 1e-12));
    }

    #[test]
    fn rare_terms_weigh_most_and_ubiquitous_terms_nothing() {
        let weights = term_weights(&[0, 3, 60], 100);
        assert!(weights[0] > weights[1] && weights[1] > 0.0 && weights[2].abs() < 1e-12);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let small = term_weights(&[1, 2], 2);
        assert!(
            small.iter().all(|weight| (weight - 0.5).abs() < 1e-12),
            "a store too small to tell terms apart"
        );
    }

    #[test]
    fn the_terms_of_an_event_count_half() {
        let of = |weight| term(SignCode::default(), weight);
        let weights = |terms| {
            down_weight(terms, |word| word == "move")
                .iter()
                .map(|term| term.weight)
                .collect::<Vec<_>>()
        };
        assert_eq!(weights(vec![("anna", of(0.5)), ("move", of(0.5))]), [2.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(weights(vec![("move", of(1.0))]), [1.0], "the query has no other term");
    }

    proptest! {
        /// With any number of terms, although the kernel takes eight at a time.
        #[test]
        fn every_term_matches_its_nearest_token(seeds in prop::collection::vec(any::<u64>(), 0..20), tokens in prop::collection::vec(any::<u64>(), 1..20)) {
            let tokens: Vec<SignCode> = tokens.into_iter().map(code).collect();
            let terms: Vec<QueryTerm> = seeds.into_iter().map(|seed| term(code(seed), 0.1)).collect();
            let mut matches = vec![0.0; terms.len()];
            best_matches(&interleave(&terms), &tokens, &mut matches);
            for (term, best) in terms.iter().zip(matches) {
                let distance = tokens.iter().map(|other| term.code.distance(other)).min().unwrap_or(0);
                prop_assert_eq!(best.to_bits(), COSINES[distance as usize].to_bits());
            }
        }
    }
}
