//! From the scores of the two legs to one order, where the soft ranking is not asked for or cannot be. Pure.
//!
//! "c5" is half the cosine, half BM25 as a share of what a perfect short text would score. Both halves are absolute, so a score means the
//! same from query to query and no candidate list has to be cut first. Figures: docs/retrieval.md. Not here: the soft ranking (`soft`).

/// How the two legs become one score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Fusion {
    /// By words as the model understands them, what the question names, and storing order ([`crate::ranking::late_interaction`]); where the words of a memory
    /// have not been read yet, the whole answer is as with `Weighted` and half.
    #[default]
    Soft,
    /// `vector_weight × max(0, cosine) + (1 - vector_weight) × min(1, BM25 / ideal)`.
    Weighted {
        /// Share of the vector leg, 0 to 1.
        vector_weight: f64,
    },
    /// Reciprocal rank fusion, `Σ 1 / (k + rank)`, over the best 100 of each leg (Cormack, Clarke and Büttcher, 2009).
    Rrf {
        /// The constant k; larger flattens the difference between ranks.
        k: f64,
    },
}

/// The scores of one memory in both legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// Where it stands in the index; a higher slot was stored later.
    pub slot: usize,
    /// Cosine of its best piece, -1 to 1; 0 without a vector.
    pub cosine: f64,
    /// BM25 divided by the query's ideal, at most 1; 0 without a word of the query.
    pub lexical: f64,
}

/// The two legs of a candidate: its vectors, its words.
pub(crate) const LEGS: [fn(&Candidate) -> f64; 2] = [|c| c.cosine, |c| c.lexical];

/// A best score of "c5" below this is seldom of an answer. Figures: docs/retrieval.md.
const WEAK: f64 = 0.35;
/// The share of the vector leg in "c5".
const C5: f64 = 0.5;
/// A score below this is no reason to be in a leg's list: a word that stands in every text, vectors that have nothing in common.
const LEAST: f64 = 0.01;
/// How deep reciprocal rank fusion looks into each leg.
const RRF_DEPTH: usize = 100;

/// The score of each candidate.
pub(crate) fn scores(
    fusion: Fusion,
    with_vectors: bool,
    candidates: &[Candidate],
) -> Vec<(usize, f64)> {
    match fusion {
        Fusion::Weighted { .. } | Fusion::Soft => weighted(fusion, with_vectors, candidates),
        Fusion::Rrf { k } => reciprocal(k, candidates),
    }
}

/// Best first, at most `limit`, none that scores nothing; equal scores go to the one stored later.
pub(crate) fn best(mut scored: Vec<(usize, f64)>, limit: usize) -> Vec<(usize, f64)> {
    let better = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    scored.retain(|(_, score)| *score > 0.0);
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit, better);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(better);
    scored
}

/// The score below which the best answer is weak; none where scores do not tell: by ranks, and by words alone.
pub(crate) fn floor(fusion: Fusion, with_vectors: bool) -> Option<f64> {
    match fusion {
        Fusion::Weighted { .. } | Fusion::Soft if with_vectors => Some(WEAK),
        _ => None,
    }
}

/// What the cosine counts, and what BM25, where scores are a weighted sum.
pub(crate) fn shares(fusion: Fusion, with_vectors: bool) -> (f64, f64) {
    let share = match fusion {
        _ if !with_vectors => 0.0,
        Fusion::Weighted { vector_weight } => vector_weight,
        Fusion::Soft | Fusion::Rrf { .. } => C5,
    };
    (share, 1.0 - share)
}

fn weighted(fusion: Fusion, with_vectors: bool, candidates: &[Candidate]) -> Vec<(usize, f64)> {
    let (vectors, words) = shares(fusion, with_vectors);
    candidates.iter().map(|c| (c.slot, vectors * c.cosine.max(0.0) + words * c.lexical)).collect()
}

fn reciprocal(k: f64, candidates: &[Candidate]) -> Vec<(usize, f64)> {
    let mut scores = vec![0.0; candidates.len()];
    for leg in LEGS {
        scores
            .iter_mut()
            .zip(places(candidates, leg))
            .for_each(|(score, place)| *score += of_place(k, place));
    }
    candidates.iter().zip(scores).map(|(c, score)| (c.slot, score)).collect()
}

/// What a place in a leg's list counts in reciprocal rank fusion.
pub(crate) fn of_place(k: f64, place: Option<usize>) -> f64 {
    place.filter(|place| *place <= RRF_DEPTH).map_or(0.0, |place| 1.0 / (k + place as f64))
}

/// The place of each candidate in one leg's list, 1 for the best; none for those that are not on it.
pub(crate) fn places(candidates: &[Candidate], leg: fn(&Candidate) -> f64) -> Vec<Option<usize>> {
    let mut order: Vec<usize> =
        (0..candidates.len()).filter(|i| leg(&candidates[*i]) > LEAST).collect();
    order.sort_by(|a, b| {
        leg(&candidates[*b])
            .total_cmp(&leg(&candidates[*a]))
            .then(candidates[*b].slot.cmp(&candidates[*a].slot))
    });
    let mut places = vec![None; candidates.len()];
    order.into_iter().zip(1..).for_each(|(i, place)| places[i] = Some(place));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(slot: usize, cosine: f64, lexical: f64) -> Candidate {
        Candidate { slot, cosine, lexical }
    }

    fn rank(fusion: Fusion, with_vectors: bool, candidates: &[Candidate]) -> Vec<(usize, f64)> {
        best(scores(fusion, with_vectors, candidates), candidates.len())
    }

    fn order(ranked: &[(usize, f64)]) -> Vec<usize> {
        ranked.iter().map(|(slot, _)| *slot).collect()
    }

    #[test]
    fn both_legs_count_half() {
        let ranked = rank(
            Fusion::default(),
            true,
            &[candidate(0, 0.8, 0.0), candidate(1, 0.0, 1.0), candidate(2, 0.6, 0.6)],
        );
        assert_eq!(order(&ranked), [2, 1, 0]);
        assert!((ranked[0].1 - 0.6).abs() < 1e-12);
    }

    #[test]
    fn without_vectors_the_words_are_the_whole_score() {
        let ranked = rank(Fusion::default(), false, &[candidate(0, 0.0, 0.5)]);
        assert!((ranked[0].1 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn reciprocal_rank_fusion_is_the_sum_of_reciprocal_ranks() {
        let ranked = rank(
            Fusion::Rrf { k: 60.0 },
            true,
            &[candidate(0, 0.9, 0.1), candidate(1, 0.1, 0.9), candidate(2, 0.5, 0.0)],
        );
        assert!(
            (ranked[0].1 - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-9
                || (ranked[0].1 - (1.0 / 61.0 + 1.0 / 63.0)).abs() < 1e-9
        );
        assert_eq!(ranked.last().map(|(slot, _)| *slot), Some(2));
    }

    proptest! {
        /// The order in which candidates come in makes no difference.
        #[test]
        fn ranking_does_not_depend_on_the_order_of_candidates(scores in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0), 1..40), k in 1.0_f64..100.0) {
            let forward: Vec<Candidate> = scores.iter().enumerate().map(|(i, (c, l))| candidate(i, *c, *l)).collect();
            let backward: Vec<Candidate> = forward.iter().rev().copied().collect();
            prop_assert_eq!(rank(Fusion::default(), true, &forward), rank(Fusion::default(), true, &backward));
            let (a, b) = (rank(Fusion::Rrf { k }, true, &forward), rank(Fusion::Rrf { k }, true, &backward));
            prop_assert_eq!(a, b);
        }
    }
}
