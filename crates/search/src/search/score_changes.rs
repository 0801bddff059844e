//! What the steps after the strategy added to scores.
//!
//! Not here: the steps (`graph_boost`, `linked_fields`, `project_preference`, `branch_preference`, `weights`).

use crate::index::{Index, Mask};
use crate::ranking::fusion::ScoredSlot;
use crate::search::graph_boost::{self, QueryEntities};
use crate::search::linked_fields::FieldBoosts;
use crate::search::query::prepared::PreparedTerm;
use crate::search::types::SearchQuery;
use crate::search::weights::WeightChanges;
use std::collections::HashMap;

/// What the steps after the strategy added to scores, by slot.
#[derive(Debug, Default)]
pub struct ScoreChanges {
    pub graph: HashMap<usize, f64>,
    pub fields: FieldBoosts,
    pub project: HashMap<usize, f64>,
    /// Negative: memories of another branch are lowered.
    pub branch: HashMap<usize, f64>,
    pub weights: WeightChanges,
}

/// What a query is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub entities: QueryEntities<'a>,
    /// Its words, if they are matched one by one.
    pub terms: Option<&'a [PreparedTerm]>,
}

impl ScoreChanges {
    /// Applies all steps.
    pub fn apply(
        index: &Index,
        mask: &Mask,
        query: &SearchQuery<'_>,
        subject: Subject<'_>,
        scored: &mut [ScoredSlot],
    ) -> Self {
        let Subject { entities, terms } = subject;
        let graph = if query.follows_links {
            graph_boost::apply(index, mask, entities, scored)
        } else {
            HashMap::new()
        };
        let fields = query.fields.map(|fields| fields.apply(index, mask, query.projects, scored));
        Self {
            graph,
            fields: fields.unwrap_or_default(),
            project: query.projects.apply(index, terms, scored),
            branch: query.branch.map(|branch| branch.apply(index, scored)).unwrap_or_default(),
            weights: query.weights.apply(index, scored, query.today),
        }
    }

    /// Returns the sum of what was added to the score of a slot.
    pub fn of(&self, slot: usize) -> f64 {
        let WeightChanges { importance, recency } = &self.weights;
        let all = [&self.graph, &self.project, &self.branch, importance, recency];
        let changed: f64 = all.iter().filter_map(|changes| changes.get(&slot)).sum();
        changed + self.fields.get(&slot).map_or(0.0, |[names, relations]| names + relations)
    }
}
