//! Fusion of two signals, cosine and BM25: the ranking if late interaction is not configured or not
//! possible. Pure.
//!
//! With equal weights, "weighted" is half the cosine plus half of BM25 as a share of the ideal.
//! Both are absolute values, so scores of different queries are comparable, and all candidates are
//! ranked. Figures: docs/retrieval.md. Not here: the default ranking (`late_interaction`).

/// How cosine and BM25 become one score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Fusion {
    /// Late interaction of tokens, features of the text, and storage order
    /// ([`crate::ranking::late_interaction`]). If any admitted memory has no token codes yet, or the
    /// model gives none, all are ranked as with `Weighted` and equal weights.
    #[default]
    Soft,
    /// `vector_weight × max(0, cosine) + (1 - vector_weight) × min(1, BM25 / ideal)`.
    Weighted {
        /// Weight of the cosine, 0 to 1.
        vector_weight: f64,
    },
    /// Reciprocal rank fusion, `Σ 1 / (k + rank)`, over the best 100 of each signal (Cormack,
    /// Clarke and Büttcher, 2009).
    Rrf {
        /// The constant k; larger values flatten the difference between ranks.
        k: f64,
    },
}

/// A memory and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredSlot {
    /// Its slot in the index; a higher slot was stored later.
    pub slot: usize,
    /// The score, larger for a better result.
    pub score: f64,
}

/// Both signals of one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its slot in the index; a higher slot was stored later.
    pub slot: usize,
    /// Cosine of its best chunk, -1 to 1; 0 without a vector.
    pub cosine: f64,
    /// BM25 as a share of the ideal, 0 to 1; 0 without a query term.
    pub lexical: f64,
}

/// The two signals of a candidate: cosine, BM25.
pub(crate) const SIGNALS: [fn(&Candidate) -> f64; 2] = [|c| c.cosine, |c| c.lexical];

/// If the best weighted score is below this, it is seldom an answer. Figures: docs/retrieval.md.
const WEAK_SCORE: f64 = 0.35;
/// Weight of the cosine where the configuration gives none.
const EQUAL_WEIGHT: f64 = 0.5;
/// Signals up to this are not ranked: a term of every text, unrelated vectors.
const MIN_RANKED_SIGNAL: f64 = 0.01;
/// Number of ranks of each signal that count in reciprocal rank fusion.
const RRF_DEPTH: usize = 100;

/// What cosine and BM25 contribute to the score of each candidate. The score is their sum.
pub(crate) fn contributions(
    fusion: Fusion,
    with_vectors: bool,
    candidates: &[Candidate],
) -> Vec<[f64; 2]> {
    if let Fusion::Rrf { k } = fusion {
        let [by_cosine, by_lexical] = SIGNALS.map(|signal| ranks(candidates, signal));
        let contribution = |(a, b)| [reciprocal(k, a), reciprocal(k, b)];
        return by_cosine.into_iter().zip(by_lexical).map(contribution).collect();
    }
    let cosine_weight = match fusion {
        _ if !with_vectors => 0.0,
        Fusion::Weighted { vector_weight } => vector_weight,
        Fusion::Soft | Fusion::Rrf { .. } => EQUAL_WEIGHT,
    };
    let lexical_weight = 1.0 - cosine_weight;
    candidates
        .iter()
        .map(|c| [cosine_weight * c.cosine.max(0.0), lexical_weight * c.lexical])
        .collect()
}

/// Returns the best `limit` entries, best first; of equal scores the later slot comes first.
pub fn best(mut scored: Vec<ScoredSlot>, limit: usize) -> Vec<ScoredSlot> {
    let better =
        |a: &ScoredSlot, b: &ScoredSlot| b.score.total_cmp(&a.score).then(b.slot.cmp(&a.slot));
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit, better);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(better);
    scored
}

/// Returns the best `count` of many entries, best first; of equal scores the later slot comes first.
/// `count` is small: each entry is compared with the best ones so far.
pub fn top(scored: &[ScoredSlot], count: usize) -> Vec<ScoredSlot> {
    let mut best: Vec<ScoredSlot> = Vec::with_capacity(count + 1);
    for entry in scored {
        let at = best.partition_point(|other| {
            other.score.total_cmp(&entry.score).then(other.slot.cmp(&entry.slot)).is_gt()
        });
        if at < count {
            best.insert(at, *entry);
            best.truncate(count);
        }
    }
    best
}

/// The score below which the best answer counts as weak; `None` where scores have no absolute
/// meaning: by ranks, and by keywords alone.
pub(crate) fn weak_below(fusion: Fusion, with_vectors: bool) -> Option<f64> {
    match fusion {
        Fusion::Weighted { .. } | Fusion::Soft if with_vectors => Some(WEAK_SCORE),
        _ => None,
    }
}

/// The contribution of one rank to reciprocal rank fusion.
fn reciprocal(k: f64, rank: Option<usize>) -> f64 {
    rank.filter(|rank| *rank <= RRF_DEPTH).map_or(0.0, |rank| 1.0 / (k + rank as f64))
}

/// The rank of each candidate by one signal, 1 for the best; `None` for a signal up to
/// [`MIN_RANKED_SIGNAL`].
pub fn ranks(candidates: &[Candidate], signal: fn(&Candidate) -> f64) -> Vec<Option<usize>> {
    let mut order: Vec<usize> =
        (0..candidates.len()).filter(|i| signal(&candidates[*i]) > MIN_RANKED_SIGNAL).collect();
    order.sort_by(|a, b| {
        signal(&candidates[*b])
            .total_cmp(&signal(&candidates[*a]))
            .then(candidates[*b].slot.cmp(&candidates[*a].slot))
    });
    let mut ranks = vec![None; candidates.len()];
    order.into_iter().zip(1..).for_each(|(i, rank)| ranks[i] = Some(rank));
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(slot: usize, cosine: f64, lexical: f64) -> Candidate {
        Candidate { slot, cosine, lexical }
    }

    fn rank(fusion: Fusion, with_vectors: bool, candidates: &[Candidate]) -> Vec<ScoredSlot> {
        let scored = candidates.iter().zip(contributions(fusion, with_vectors, candidates));
        let sums = scored.map(|(of, [a, b])| ScoredSlot { slot: of.slot, score: a + b }).collect();
        best(sums, candidates.len())
    }

    fn order(ranked: &[ScoredSlot]) -> Vec<usize> {
        ranked.iter().map(|entry| entry.slot).collect()
    }

    #[test]
    fn both_signals_count_half() {
        let ranked = rank(
            Fusion::default(),
            true,
            &[candidate(0, 0.8, 0.0), candidate(1, 0.0, 1.0), candidate(2, 0.6, 0.6)],
        );
        assert_eq!(order(&ranked), [2, 1, 0]);
        assert!((ranked[0].score - 0.6).abs() < 1e-12);
    }

    #[test]
    fn without_vectors_bm25_is_the_whole_score() {
        let ranked = rank(Fusion::default(), false, &[candidate(0, 0.0, 0.5)]);
        assert!((ranked[0].score - 0.5).abs() < 1e-12);
    }

    #[test]
    fn reciprocal_rank_fusion_is_the_sum_of_reciprocal_ranks() {
        let ranked = rank(
            Fusion::Rrf { k: 60.0 },
            true,
            &[candidate(0, 0.9, 0.1), candidate(1, 0.1, 0.9), candidate(2, 0.5, 0.0)],
        );
        assert!(
            (ranked[0].score - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-9
                || (ranked[0].score - (1.0 / 61.0 + 1.0 / 63.0)).abs() < 1e-9
        );
        assert_eq!(ranked.last().map(|entry| entry.slot), Some(2));
    }

    proptest! {
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
