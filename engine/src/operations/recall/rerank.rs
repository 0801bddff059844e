//! The best results of a search in the order of a cross-encoder: a model that reads the query and a
//! text together.
//!
//! It is slow, so it compares only the best results. Not here: the model (the daemon's).

use crate::model::rerank::Rerank;
use crate::operations::recall::RecallContext;
use crate::operations::recall::hydrate::Hit;
use loci_proto::degraded::Degraded;
use loci_proto::requests::explain::ScorePart;

/// Name of the step in an explanation.
const STEP: &str = "cross_encoder";
/// Why the order is that of the search.
const HINT: &str = "the cross-encoder is not loaded, or did not answer in time (loci doctor); the results are in the order of the search";

/// What the model says of the best result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It may answer the query.
    Fits,
    /// Its score is below the floor.
    Weak,
    /// The model did not answer; the results are in the order of the search.
    Unknown,
}

/// Orders the results of a search by the cross-encoder of the call, if it has one, and keeps at most
/// `limit`. Then the model decides whether they are weak. Returns the degraded parts that the reply
/// reports if the model did not answer.
pub(crate) fn apply(
    context: RecallContext<'_>,
    query: &str,
    limit: usize,
    hits: &mut Vec<Hit>,
    is_weak: &mut bool,
) -> Option<Degraded> {
    let rerank = context.rerank.filter(|_| !hits.is_empty())?;
    match order(rerank, query, hits, limit) {
        Verdict::Unknown => return Some(not_compared(context.degraded)),
        verdict => *is_weak = verdict == Verdict::Weak,
    }
    None
}

fn not_compared(others: &Degraded) -> Degraded {
    let mut degraded = others.clone();
    degraded.parts.push("rerank".to_owned());
    degraded.hint.get_or_insert_with(|| HINT.to_owned());
    degraded
}

/// Orders the best results by the scores of the model, which become theirs, and keeps at most `limit`. A
/// newer version comes before an older one.
fn order(rerank: Rerank<'_>, query: &str, hits: &mut Vec<Hit>, limit: usize) -> Verdict {
    let compared = hits.len().min(rerank.depth);
    let texts: Vec<&str> = hits[..compared].iter().map(|hit| &*hit.memory.content).collect();
    let scores = rerank.scorer.score(query, &texts).filter(|scores| scores.len() == compared);
    let verdict = match &scores {
        None => Verdict::Unknown,
        Some(scores) if scores.iter().all(|score| *score < rerank.floor) => Verdict::Weak,
        Some(_) => Verdict::Fits,
    };
    if let Some(scores) = scores {
        for (hit, score) in hits.iter_mut().zip(scores) {
            replace_score(hit, score);
        }
        let score = |hit: &Hit| hit.score.unwrap_or_default();
        hits[..compared].sort_by(|a, b| score(b).total_cmp(&score(a)));
        put_newer_versions_first(hits);
    }
    hits.truncate(limit);
    verdict
}

/// Gives a result the score of the model; its explanation says by how much that differs.
fn replace_score(hit: &mut Hit, score: f64) {
    hit.score = Some(score);
    if let Some(why) = &mut hit.why {
        let before: f64 = why.parts.iter().map(|part| part.adds).sum();
        why.parts.push(ScorePart { step: STEP.to_owned(), adds: score - before });
    }
}

/// Moves each newer version right before the first of its older ones.
fn put_newer_versions_first(hits: &mut [Hit]) {
    let mut at = 0;
    while at < hits.len() {
        let newer = hits[at].older_version_of.as_ref();
        let later =
            newer.and_then(|newer| hits[at + 1..].iter().position(|hit| hit.memory.id == *newer));
        match later {
            // The newer one is now at this place, and may itself be older than another.
            Some(distance) => hits[at..=at + 1 + distance].rotate_right(1),
            None => at += 1,
        }
    }
}
