//! Builds the explanation of a search from the recorded steps. Pure.
//!
//! Not here: recording (`ranking::late_interaction::recorder`), which results a reply leaves out
//! (`operations::recall`).

use crate::index::Index;
use crate::ranking::fusion;
use crate::ranking::fusion::{Fusion, ScoredSlot};
use crate::ranking::late_interaction::{Step, StepRecord};
use crate::search::score_changes::ScoreChanges;
use crate::search::summary_rollup;
use crate::search::types::{Breakdown, StepAmount};
use crate::search::weights::WeightChanges;
use loci_base::model::importance::Importance;
use loci_proto::requests::explain::{RankedScore, ScoreBreakdown, ScorePart};
use std::collections::HashMap;

/// Name of the step that raises memories linked to named entities or to the best results.
const GRAPH: &str = "graph";
/// Name of the step that raises memories by the names of linked entities.
const ENTITIES: &str = "entities";
/// Name of the step that raises memories by the relations of linked entities.
const RELATIONS: &str = "relations";
/// Name of the step that raises memories of the asking project, or of the project that is named.
const PROJECT: &str = "project";
/// Name of the step that lowers memories of another branch of the asking project.
const BRANCH: &str = "branch";
/// Name of the step that multiplies a score by the importance of the memory.
const IMPORTANCE: &str = "importance";
/// Name of the step that lowers older memories.
const AGE: &str = "age";
/// Name of the step that lowers memories which a summary replaces.
const COMPACTED: &str = "compacted";
/// Name of the step by which a summary takes over the score of the best memory below it.
const SUMMARY: &str = "summary";

/// The scores of the candidates before and after the roll-up into summaries.
pub struct ScoreStages<'a> {
    /// The index that was searched.
    pub index: &'a Index,
    /// The scores including both boosts, before the roll-up.
    pub before_roll_up: &'a [ScoredSlot],
    /// What the boosts contained in these scores added.
    pub changes: &'a ScoreChanges,
    /// The results.
    pub ranked: &'a [ScoredSlot],
}

/// The steps of a plain fusion: its two contributions.
pub(crate) fn fusion_steps([cosine, lexical]: [f64; 2]) -> Vec<StepAmount> {
    let [by_cosine, by_lexical] = [Step::Cosine.name(), Step::Bm25.name()];
    vec![
        StepAmount { name: by_cosine, amount: cosine },
        StepAmount { name: by_lexical, amount: lexical },
    ]
}

/// The recorded steps of the late-interaction ranking for each of `count` memories.
pub(crate) fn recorded_steps(record: StepRecord, count: usize) -> Vec<Vec<StepAmount>> {
    let step = |(step, amount): (Step, f64)| StepAmount { name: step.name(), amount };
    record
        .into_rows(count)
        .into_iter()
        .map(|row| Step::ALL.into_iter().zip(row).map(step).collect())
        .collect()
}

/// The name of a ranking that does not use late interaction.
pub(crate) fn plain_ranking_name(fusion: Fusion, with_vectors: bool) -> &'static str {
    match fusion {
        Fusion::Rrf { .. } => "rrf",
        _ if !with_vectors => "keywords",
        Fusion::Soft | Fusion::Weighted { .. } => "weighted",
    }
}

/// The explanation of each result, in the order of the results. Its parts add up to the score.
pub fn score_breakdowns(breakdown: &Breakdown, stages: &ScoreStages<'_>) -> Vec<ScoreBreakdown> {
    let Breakdown { candidates, steps } = breakdown;
    let [by_cosine, by_lexical] = fusion::SIGNALS.map(|signal| fusion::ranks(candidates, signal));
    let position: HashMap<usize, usize> =
        candidates.iter().enumerate().map(|(at, candidate)| (candidate.slot, at)).collect();
    let before_roll_up: HashMap<usize, f64> =
        stages.before_roll_up.iter().map(|entry| (entry.slot, entry.score)).collect();
    let ranked_score = |score: f64, rank: Option<usize>| {
        rank.map(|rank| RankedScore { score: rounded(score), rank })
    };
    let breakdown = |entry: &ScoredSlot| {
        let at = position.get(&entry.slot).copied();
        let weight = summary_rollup::weight(stages.index, entry.slot);
        let score_before = before_roll_up.get(&entry.slot).copied().unwrap_or(0.0);
        let ScoreChanges { graph, fields, project, branch, weights } = stages.changes;
        let boost = |boosts: &HashMap<usize, f64>| boosts.get(&entry.slot).copied().unwrap_or(0.0);
        let mut parts: Vec<StepAmount> = at.map(|at| steps[at].clone()).unwrap_or_default();
        parts.push(StepAmount { name: GRAPH, amount: boost(graph) });
        let [names, relations] = fields.get(&entry.slot).copied().unwrap_or_default();
        parts.push(StepAmount { name: ENTITIES, amount: names });
        parts.push(StepAmount { name: RELATIONS, amount: relations });
        parts.push(StepAmount { name: PROJECT, amount: boost(project) });
        parts.push(StepAmount { name: BRANCH, amount: boost(branch) });
        let WeightChanges { importance, recency } = weights;
        parts.push(StepAmount { name: IMPORTANCE, amount: boost(importance) });
        parts.push(StepAmount { name: AGE, amount: boost(recency) });
        parts.push(StepAmount { name: SUMMARY, amount: entry.score / weight - score_before });
        let sum: f64 = parts.iter().map(|part| part.amount).sum();
        parts.push(StepAmount { name: COMPACTED, amount: (weight - 1.0) * sum });
        ScoreBreakdown {
            vector: at.and_then(|at| ranked_score(candidates[at].cosine, by_cosine[at])),
            keywords: at.and_then(|at| ranked_score(candidates[at].lexical, by_lexical[at])),
            importance: stages.index.importance(entry.slot).map(Importance::get),
            version: None,
            parts: parts.into_iter().filter_map(part).collect(),
            ..ScoreBreakdown::default()
        }
    };
    stages.ranked.iter().map(breakdown).collect()
}

/// A step as the reply shows it; `None` if it added nothing.
fn part(step: StepAmount) -> Option<ScorePart> {
    let adds = rounded(step.amount);
    (adds != 0.0).then(|| ScorePart { step: step.name.to_owned(), adds })
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
