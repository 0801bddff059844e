//! How scores came about, in the words of the answer. Pure.
//!
//! Not here: the scores (`rank`, `soft`), how they are taken apart (`soft::parts`), what an answer leaves out (`recall`).

use crate::rank::{self, Candidate, Fusion};
use crate::soft;
use loci_proto::explain::{Leg, Part, Why};
use std::collections::HashMap;

/// What the step is called that halves what a summary stands for.
const COMPACTED: &str = "compacted";

/// Whether an answer tells how its scores came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Telling {
    /// The scores alone.
    #[default]
    Scores,
    /// Also what each is made of.
    Parts,
}

/// How the scores of one search came about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Account {
    /// What made them.
    pub ranking: &'static str,
    /// How many memories had a place before the limit cut them.
    pub ranked: usize,
    /// For each that is given, in their order.
    pub whys: Vec<Why>,
}

/// What each step adds to the score of a candidate, before what a summary stands for is halved.
type Steps<'a> = &'a dyn Fn(usize) -> Vec<(&'static str, f64)>;

/// The account of a soft ranking; `parts` are those of the candidates.
pub(crate) fn soft(candidates: &[Candidate], parts: &[soft::Parts], ranked: &[(usize, f64)]) -> Vec<Why> {
    whys(candidates, ranked, &|at| soft::STEPS.into_iter().zip(parts[at]).collect())
}

/// The account of a weighted or reciprocal ranking.
pub(crate) fn plain(fusion: Fusion, with_vectors: bool, candidates: &[Candidate], ranked: &[(usize, f64)]) -> Vec<Why> {
    if let Fusion::Rrf { k } = fusion {
        let [vectors, words] = rank::LEGS.map(|leg| rank::places(candidates, leg));
        return whys(candidates, ranked, &|at| vec![("cosine", rank::of_place(k, vectors[at])), ("bm25", rank::of_place(k, words[at]))]);
    }
    let (vectors, words) = rank::shares(fusion, with_vectors);
    whys(candidates, ranked, &|at| vec![("cosine", vectors * candidates[at].cosine.max(0.0)), ("bm25", words * candidates[at].lexical)])
}

/// What made the scores of a search that is not soft.
pub(crate) fn name(fusion: Fusion, with_vectors: bool) -> &'static str {
    match fusion {
        Fusion::Rrf { .. } => "rrf",
        _ if !with_vectors => "keywords",
        Fusion::Soft | Fusion::Weighted { .. } => "weighted",
    }
}

fn whys(candidates: &[Candidate], ranked: &[(usize, f64)], steps: Steps<'_>) -> Vec<Why> {
    let [vectors, words] = rank::LEGS.map(|leg| rank::places(candidates, leg));
    let at: HashMap<usize, usize> = candidates.iter().enumerate().map(|(at, candidate)| (candidate.slot, at)).collect();
    let leg = |score: f64, place: Option<usize>| place.map(|rank| Leg { score: rounded(score), rank });
    let why = |at: usize| {
        let mut steps = steps(at);
        let sum: f64 = steps.iter().map(|(_, adds)| adds).sum();
        steps.push((COMPACTED, (candidates[at].weight - 1.0) * sum));
        let told = steps.into_iter().filter(|(_, adds)| *adds != 0.0);
        Why {
            vector: leg(candidates[at].cosine, vectors[at]),
            keywords: leg(candidates[at].lexical, words[at]),
            parts: told.map(|(step, adds)| Part { step: step.to_owned(), adds: rounded(adds) }).collect(),
        }
    };
    ranked.iter().map(|(slot, _)| at.get(slot).map_or_else(Why::default, |at| why(*at))).collect()
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
