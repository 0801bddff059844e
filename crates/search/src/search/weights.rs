//! Multiplies scores by importance and by how recent a memory is, as far as that is configured.
//!
//! Both are off by default (docs/retrieval.md has the measurements). Not here: how important a memory is
//! (`model::importance`).

use crate::index::Index;
use crate::ranking::fusion::ScoredSlot;
use loci_base::model::importance::Importance;
use loci_proto::memory::MemoryType;
use std::collections::HashMap;

/// How much importance and age change a score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    /// How much importance changes a score, 0 (not) to 1 (the score is multiplied by it).
    pub importance: f64,
    /// How fast the score falls with age.
    pub recency: RecencyLambda,
}

/// By memory type, the constant λ of the factor `e^(-λ × age in days)`; 0 is off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RecencyLambda {
    /// Of events.
    pub episodic: f64,
    /// Of facts.
    pub semantic: f64,
    /// Of instructions.
    pub procedural: f64,
    /// Of entities.
    pub entity: f64,
}

impl RecencyLambda {
    fn of(self, kind: MemoryType) -> f64 {
        match kind {
            MemoryType::Episodic => self.episodic,
            MemoryType::Semantic => self.semantic,
            MemoryType::Procedural => self.procedural,
            MemoryType::Entity => self.entity,
        }
    }
}

/// What importance and age added to scores, by slot.
#[derive(Debug, Default)]
pub struct WeightChanges {
    /// By slot, the factor of importance.
    pub importance: HashMap<usize, f64>,
    /// By slot, the factor of age.
    pub recency: HashMap<usize, f64>,
}

impl Weights {
    /// Changes the scores, and returns by how much. The age of a memory is that of its event, of the
    /// day that its text names, or of its storing, in days before `today`.
    pub fn apply(self, index: &Index, scored: &mut [ScoredSlot], today: i32) -> WeightChanges {
        let mut changes = WeightChanges::default();
        if self == Self::default() {
            return changes;
        }
        for entry in scored.iter_mut().filter(|entry| entry.score > 0.0) {
            let importance = Importance::factor(index.importance(entry.slot), self.importance);
            multiply(entry, importance, &mut changes.importance);
            let day = index.text_features(entry.slot).day.unwrap_or(today);
            let age = f64::from(today.saturating_sub(day).max(0));
            let recency = (-self.recency.of(index.kind(entry.slot)) * age).exp();
            multiply(entry, recency, &mut changes.recency);
        }
        changes
    }
}

fn multiply(entry: &mut ScoredSlot, factor: f64, changes: &mut HashMap<usize, f64>) {
    let change = entry.score * (factor - 1.0);
    if change != 0.0 {
        changes.insert(entry.slot, change);
        entry.score += change;
    }
}
