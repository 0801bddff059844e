//! What the steps after the strategy added to scores.
//!
//! Not here: the steps (`graph_boost`, `project_preference`, `branch_preference`, `weights`).

use crate::index::Index;
use crate::ranking::fusion::ScoredSlot;
use crate::search::types::SearchQuery;
use crate::search::weights::WeightChanges;
use std::collections::HashMap;

/// What the steps after the strategy added to scores, by slot.
#[derive(Debug, Default)]
pub(crate) struct ScoreChanges {
    pub graph: HashMap<usize, f64>,
    pub project: HashMap<usize, f64>,
    /// Negative: memories of another branch are lowered.
    pub branch: HashMap<usize, f64>,
    pub weights: WeightChanges,
}

impl ScoreChanges {
    /// Applies all steps but that of the graph.
    pub(crate) fn apply(index: &Index, query: &SearchQuery<'_>, scored: &mut [ScoredSlot]) -> Self {
        Self {
            graph: HashMap::new(),
            project: query.projects.apply(index, scored),
            branch: query.branch.map(|branch| branch.apply(index, scored)).unwrap_or_default(),
            weights: query.weights.apply(index, scored, query.today),
        }
    }

    /// Returns the sum of what was added to the score of a slot.
    pub(crate) fn of(&self, slot: usize) -> f64 {
        let WeightChanges { importance, recency } = &self.weights;
        let all = [&self.graph, &self.project, &self.branch, importance, recency];
        all.iter().filter_map(|changes| changes.get(&slot)).sum()
    }
}
