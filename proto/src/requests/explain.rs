//! The explanation of a recall: how each score was calculated, and how many memories remained after each step. Part of the reply of
//! [`super::recall`].

use std::collections::BTreeMap;

use crate::memory::MemoryId;
use serde::{Deserialize, Serialize};

/// How one score was calculated; the sum of `parts` is the score, by which the judge orders. What is shown as the score of a result is
/// how likely it answers the query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ScoreBreakdown {
    /// Result of the vector search: cosine and rank. Absent without a vector or a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<RankedScore>,
    /// Result of the keyword search: BM25 as a share of the ideal score, and rank. Absent if no query term occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<RankedScore>,
    /// The importance of the memory, 0.7 to 1.5, if it is known. It counts only with `retrieval.importance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// Which version of a fact it is; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionOf>,
    /// The result that most likely states a newer value. Absent if none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<NewerVersion>,
    /// The summand of each ranking step; steps that add nothing are omitted.
    pub parts: Vec<ScorePart>,
    /// What the memory is: `stored`, `summary` of other memories, `promoted` from episodes, or `candidate`.
    #[serde(default)]
    pub level: String,
    /// Which search found it: `vector`, `keywords`, `both`, or `links` (neighbours, an error, a summary's members).
    #[serde(default)]
    pub source: String,
    /// True if nothing replaces it and no result states a newer value.
    #[serde(default)]
    pub is_latest: bool,
    /// How often it was returned in full or stored again.
    #[serde(default)]
    pub access_count: i64,
}

/// A result that may state a newer value than another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewerVersion {
    /// Its id.
    pub id: MemoryId,
    /// How likely it states a newer value, 0 to 1; from 0.5 on it comes first.
    pub likelihood: f64,
    /// What this likelihood is computed from, by name (docs/retrieval.md).
    pub evidence: BTreeMap<String, f64>,
}

/// Which version of a fact a memory is: each was superseded by the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionOf {
    /// The first version.
    pub root: MemoryId,
    /// Its number; the first is 1.
    pub version: usize,
    /// The version that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
}

/// The result of one memory in one of the two searches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedScore {
    /// Its score in that search.
    pub score: f64,
    /// Its rank in that search; 1 is the best.
    pub rank: usize,
}

/// The summand of one ranking step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScorePart {
    /// Name of the step, see docs/retrieval.md.
    pub step: String,
    /// The summand; negative if the step lowers the score.
    pub adds: f64,
}

/// Number of memories that remained after each step of a recall.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RecallExplanation {
    /// The ranking: `soft`, `weighted`, `rrf`, or `keywords` if only the keyword search ran.
    pub ranking: String,
    /// The kind of the query: `profile`, `aggregation`, `temporal`, `complex` or `simple`; only with `retrieval.query_kinds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_kind: Option<String>,
    /// How likely one of the five best results answers the query, 0 to 1; below a limit the reply says `weak`. Absent for `weighted`, `rrf` and
    /// `keywords`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<f64>,
    /// What this likelihood is computed from, by name (docs/retrieval.md).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, f64>,
    /// Memories in the whole store, including superseded and forgotten ones; only those that the call can see while a project is isolated.
    pub in_store: usize,
    /// Of these, active memories that have not expired and that this project can see.
    pub visible: usize,
    /// Of these, memories that pass the filters of the call.
    pub admitted: usize,
    /// Of these, memories that contain a query term, are similar in meaning, or are named in the query.
    pub matched: usize,
    /// Memories that were ranked: the matching ones, and neighbours of promising ones.
    pub ranked: usize,
    /// Of the ranked memories, those that state the same as a better one and are listed in its `also`.
    pub collapsed: usize,
    /// Of the remaining memories, those beyond `max_results`.
    pub over_limit: usize,
    /// Of the remaining memories, those omitted because of the token budget.
    pub cut_by_budget: usize,
    /// Time in the daemon in microseconds, with the encoding of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u64>,
}
