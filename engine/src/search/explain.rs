//! How scores came about, in the words of the answer. Pure.
//!
//! Not here: the scores (`rank`, `soft`), how they are taken apart (`late_interaction::parts`), what an answer leaves out (`recall`).

use crate::index::Index;
use crate::ranking::fusion;
use crate::ranking::fusion::{Candidate, Fusion};
use crate::ranking::late_interaction;
use crate::search::summary_rollup;
use loci_proto::requests::explain::{RankedScore, ScoreBreakdown, ScorePart};
use std::collections::HashMap;

/// What the step is called that lifts what is linked to what the question names, or to the best answers.
const GRAPH: &str = "graph";
/// What the step is called that halves what a summary stands for.
const COMPACTED: &str = "compacted";
/// What the step is called that makes up for what was only compared roughly, in a large store.
const ROUGH: &str = "roughly";
/// What the step is called by which a summary is worth what the best memory below it is.
const SUMMARY: &str = "summary";

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
    /// For each that is given, in their order.
    pub whys: Vec<ScoreBreakdown>,
}

/// What is explained.
pub(crate) struct Of<'a> {
    pub index: &'a Index,
    /// Those whose legs are compared.
    pub candidates: &'a [Candidate],
    /// What came of them.
    pub outcome: &'a Outcome<'a>,
}

/// What came of the candidates.
pub(crate) struct Outcome<'a> {
    /// Their own scores.
    pub scored: &'a [(usize, f64)],
    /// What of these they have by what they are linked to, by slot.
    pub linked: &'a HashMap<usize, f64>,
    /// What is given.
    pub ranked: &'a [(usize, f64)],
}

/// What each step adds to the own score of a candidate.
type Steps<'a> = &'a dyn Fn(usize) -> Vec<(&'static str, f64)>;

/// The account of a soft ranking; `parts` are those of the candidates.
pub(crate) fn soft(of: &Of<'_>, parts: &[late_interaction::Parts]) -> Vec<ScoreBreakdown> {
    whys(of, &|at| late_interaction::STEPS.into_iter().zip(parts[at]).collect())
}

/// The account of a weighted or reciprocal ranking.
pub(crate) fn plain(fusion: Fusion, of: &Of<'_>, with_vectors: bool) -> Vec<ScoreBreakdown> {
    if let Fusion::Rrf { k } = fusion {
        let [vectors, words] = fusion::LEGS.map(|leg| fusion::places(of.candidates, leg));
        return whys(of, &|at| {
            vec![
                ("cosine", fusion::of_place(k, vectors[at])),
                ("bm25", fusion::of_place(k, words[at])),
            ]
        });
    }
    let (vectors, words) = fusion::shares(fusion, with_vectors);
    whys(of, &|at| {
        vec![
            ("cosine", vectors * of.candidates[at].cosine.max(0.0)),
            ("bm25", words * of.candidates[at].lexical),
        ]
    })
}

/// What made the scores of a search that is not soft.
pub(crate) fn name(fusion: Fusion, with_vectors: bool) -> &'static str {
    match fusion {
        Fusion::Rrf { .. } => "rrf",
        _ if !with_vectors => "keywords",
        Fusion::Soft | Fusion::Weighted { .. } => "weighted",
    }
}

fn whys(of: &Of<'_>, steps: Steps<'_>) -> Vec<ScoreBreakdown> {
    let [vectors, words] = fusion::LEGS.map(|leg| fusion::places(of.candidates, leg));
    let at: HashMap<usize, usize> =
        of.candidates.iter().enumerate().map(|(at, candidate)| (candidate.slot, at)).collect();
    let own: HashMap<usize, f64> = of.outcome.scored.iter().copied().collect();
    let leg = |score: f64, place: Option<usize>| {
        place.map(|rank| RankedScore { score: rounded(score), rank })
    };
    let why = |(slot, score): &(usize, f64)| {
        let (at, weight) = (at.get(slot).copied(), summary_rollup::weight(of.index, *slot));
        let mut steps = at.map(steps).unwrap_or_default();
        steps.push((GRAPH, of.outcome.linked.get(slot).copied().unwrap_or(0.0)));
        if at.is_some() {
            let sum: f64 = steps.iter().map(|(_, adds)| adds).sum();
            steps.push((ROUGH, own.get(slot).map_or(0.0, |own| own - sum)));
        }
        steps.push((SUMMARY, score / weight - own.get(slot).copied().unwrap_or(0.0)));
        let sum: f64 = steps.iter().map(|(_, adds)| adds).sum();
        steps.push((COMPACTED, (weight - 1.0) * sum));
        let told = steps.into_iter().filter(|(_, adds)| rounded(*adds) != 0.0);
        ScoreBreakdown {
            vector: at.and_then(|at| leg(of.candidates[at].cosine, vectors[at])),
            keywords: at.and_then(|at| leg(of.candidates[at].lexical, words[at])),
            parts: told
                .map(|(step, adds)| ScorePart { step: step.to_owned(), adds: rounded(adds) })
                .collect(),
        }
    };
    of.outcome.ranked.iter().map(why).collect()
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
