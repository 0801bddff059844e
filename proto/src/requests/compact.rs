//! `compact_memories`: returns a cluster of old episodes that is due for a summary, or stores the agent's summary of it.
//!
//! Request:
//! ```json
//! {"cluster": "2025-W10-5d1f0a9b3c7e2468", "summary": "In March 2025 Anna moved the shop to Postgres 17."}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "compacted": 5, "act": 16}
//! ```

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `compact_memories`: none to get a cluster, both to store its summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompactRequest {
    /// Id of the cluster, from this tool.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Summary of all its memories, with dates.
    #[serde(default)]
    pub summary: Option<String>,
}

/// Reply of `compact_memories`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactReply {
    /// Id of the cluster; absent if none is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// ISO week of the memories; month or year if they are summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub week: Option<String>,
    /// The memories of the cluster, oldest first; those that do not fit the reply have no content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<ClusterMemory>,
    /// The automatic summary that the agent's summary will replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<MemoryId>,
    /// Id of the stored summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Number of memories that the summary replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<usize>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One memory of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Date of the event.
    pub date: String,
    /// The text; absent if the reply is full: recall it by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
