//! `[retrieval.recency_lambda]`: how fast the score of a memory falls with its age, by type. Not here: how it is applied (the engine).

use crate::config::allowed::check_all;
use loci_engine::RecencyLambda;
use loci_proto::error::Failure;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Allowed values: at 10 a score is nothing after a day.
const RANGE: RangeInclusive<f64> = 0.0..=10.0;

/// `[retrieval.recency_lambda]`
///
/// A score is multiplied by `e^(-λ × age in days)`; 0 is off.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecencyByType {
    /// Events.
    pub episodic: f64,
    /// Facts.
    pub semantic: f64,
    /// Procedures.
    pub procedural: f64,
    /// People and things.
    pub entity: f64,
}

impl RecencyByType {
    /// Refuses a number out of range.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        check_all([
            ("retrieval.recency_lambda.episodic", self.episodic, RANGE),
            ("retrieval.recency_lambda.semantic", self.semantic, RANGE),
            ("retrieval.recency_lambda.procedural", self.procedural, RANGE),
            ("retrieval.recency_lambda.entity", self.entity, RANGE),
        ])
    }

    /// Returns the setting of the engine.
    #[must_use]
    pub fn settings(self) -> RecencyLambda {
        let Self { episodic, semantic, procedural, entity } = self;
        RecencyLambda { episodic, semantic, procedural, entity }
    }
}
