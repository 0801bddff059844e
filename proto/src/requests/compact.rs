//! `compact_memories`: an agent sums up old episodes itself, in place of the summary that loci would take from their own sentences.

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing: list a cluster that is due. `cluster` and `summary`: sum it up.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompactRequest {
    /// A cluster that this tool listed.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Your summary of all its memories, with dates.
    #[serde(default)]
    pub summary: Option<String>,
}

/// A cluster to sum up, or what became of the summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactReply {
    /// The cluster; none when nothing is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The ISO week of its memories, or the month or year where they are summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub week: Option<String>,
    /// Its memories, oldest first; those that do not fit the answer have no content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<ToCompact>,
    /// The summary that loci has made of it; yours takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<MemoryId>,
    /// The summary that was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// How many memories it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<usize>,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One memory of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToCompact {
    /// Which memory.
    pub id: MemoryId,
    /// When it happened.
    pub date: String,
    /// What it says; left out where the answer is full: recall it by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
