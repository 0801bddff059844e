//! `eval`: measures retrieval quality on the store itself (`loci eval`).
//!
//! Request:
//! ```json
//! {"probes": 50, "seed": 1, "set": ["retrieval.fusion=rrf"]}
//! ```
//! Reply:
//! ```json
//! {"known": 0, "probes": 50, "encode_latency": {"p50_ms": 4.0, "p99_ms": 9.5},
//!  "runs": [{"set": [], "probes": {"recall_at_1": 0.8, "recall_at_5": 0.96, "recall_at_10": 0.98, "mrr": 0.87},
//!   "search_latency": {"p50_ms": 1.5, "p99_ms": 3.0}}]}
//! ```

use crate::degraded::Degraded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default number of memories that probe questions are generated from.
pub const DEFAULT_PROBES: usize = 200;
/// Maximum number of memories that probe questions are generated from.
pub const MAX_PROBES: usize = 2_000;

/// Arguments of `eval`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalRequest {
    /// Number of memories to generate probe questions from; default 200.
    #[serde(default)]
    pub probes: Option<usize>,
    /// Seed of the sample of memories; default 0.
    #[serde(default)]
    pub seed: u64,
    /// Settings to compare with those in force, each `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// Reply of `eval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalReply {
    /// Number of questions whose answer is known from click feedback.
    pub known: usize,
    /// Number of questions generated from memories.
    pub probes: usize,
    /// Time to encode one question.
    #[serde(alias = "reading")]
    pub encode_latency: Latency,
    /// One run with the settings in force; with `set`, also one with those to compare.
    pub runs: Vec<EvalRun>,
    /// The parts that did not work and were left out of the measurement.
    #[serde(flatten)]
    pub degraded: Degraded,
}

/// The results for one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalRun {
    /// The settings that differ from those in force.
    pub set: Vec<String>,
    /// Metrics of the questions from click feedback; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<EvalMetrics>,
    /// Metrics of the probe questions; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<EvalMetrics>,
    /// Time to search and rank for one question, without encoding it.
    #[serde(alias = "answering")]
    pub search_latency: Latency,
}

/// Retrieval metrics, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EvalMetrics {
    /// Share of questions whose answer was the first result.
    pub recall_at_1: f64,
    /// Share of questions whose answer was among the first five results.
    pub recall_at_5: f64,
    /// Share of questions whose answer was among the first ten results.
    pub recall_at_10: f64,
    /// MRR@20, the mean reciprocal rank; 0 for answers that are not among the first twenty results.
    pub mrr: f64,
}

/// Latency in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Median.
    pub p50_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}
