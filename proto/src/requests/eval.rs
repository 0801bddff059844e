//! `eval`: how well a store finds what is in it.

use crate::requests::recall::Degraded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memories that probes are made of, where the call does not say.
pub const PROBES: usize = 200;
/// Most memories that probes are made of.
pub const MOST_PROBES: usize = 2_000;

/// What to judge.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalRequest {
    /// Of how many memories probes are made; default 200.
    #[serde(default)]
    pub probes: Option<usize>,
    /// Which memories: the same seed takes the same ones. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// Settings to compare with those in force, each `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// How well the store finds what is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalReply {
    /// Questions whose answer somebody has chosen.
    pub known: usize,
    /// Questions made from memories.
    pub probes: usize,
    /// Time in which the model reads a question.
    pub reading: Latency,
    /// With the settings in force, then with those to compare.
    pub runs: Vec<Run>,
    /// What does not work at the moment: it was judged without.
    #[serde(flatten)]
    pub degraded: Degraded,
}

/// How the questions went with one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The settings that differ from those in force.
    pub set: Vec<String>,
    /// For the known answers; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Figures>,
    /// For the probes; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Figures>,
    /// Time in which a question is answered, once it is read.
    pub answering: Latency,
}

/// Shares of the questions, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// The answer was the first.
    pub recall_at_1: f64,
    /// It was among the first five.
    pub recall_at_5: f64,
    /// It was among the first ten.
    pub recall_at_10: f64,
    /// The mean of one divided by its place; 0 where it is not among the first twenty.
    pub mrr: f64,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Half of them took at most so long.
    pub p50_ms: f64,
    /// All but a hundredth of them.
    pub p99_ms: f64,
}
