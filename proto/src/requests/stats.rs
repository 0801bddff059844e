//! `memory_stats`: counts memories.
//!
//! Request:
//! ```json
//! {"group": "shop"}
//! ```
//! Reply:
//! ```json
//! {"total_memories": 3, "active_memories": 2, "superseded_memories": 1, "by_type": {"semantic": 2}, "by_scope": {"global": 2},
//!  "entity_relations": 0, "db_size_bytes": 184320, "oldest_memory": "2026-01-05T09:00:00Z", "newest_memory": "2026-02-01T12:30:00Z",
//!  "forgotten": 1, "compacted": 0, "expired": 0, "flagged": 0, "without_vector": 0}
//! ```

use crate::degraded::Degraded;
use crate::group::GroupName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Arguments of `memory_stats`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsRequest {
    /// Only this project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `memory_stats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct StatsReply {
    /// Active and superseded memories together.
    pub total_memories: u64,
    /// Memories that recall can find.
    pub active_memories: u64,
    /// Memories that are not active: replaced, compacted or forgotten ones, candidates, rejected attempts.
    pub superseded_memories: u64,
    /// Active memories of each type.
    pub by_type: BTreeMap<String, u64>,
    /// Active memories of each scope.
    pub by_scope: BTreeMap<String, u64>,
    /// Relations between entities.
    pub entity_relations: u64,
    /// Size of the database file, in bytes.
    pub db_size_bytes: u64,
    /// Creation time of the oldest active memory, ISO 8601, UTC.
    pub oldest_memory: Option<String>,
    /// Creation time of the newest active memory, ISO 8601, UTC.
    pub newest_memory: Option<String>,
    /// Forgotten memories that can be restored; included in `superseded_memories`.
    pub forgotten: u64,
    /// Memories that a summary replaces; included in `superseded_memories`.
    pub compacted: u64,
    /// Memories that no person has confirmed yet; included in `superseded_memories`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub candidates: u64,
    /// Attempts that were given up; included in `superseded_memories`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rejected: u64,
    /// Active memories that have expired.
    pub expired: u64,
    /// Active memories whose confidence is below 0.1: candidates for cleanup.
    #[serde(default)]
    pub flagged: u64,
    /// Active memories that have no vector yet; only keyword search finds them.
    pub without_vector: u64,
    /// The default scope of each type, if `[scope]` of the configuration changes one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub default_scopes: BTreeMap<String, String>,
    /// The session's project is isolated: only memories that it can see are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// Why loci is off in the session's project, and how a person switches it on; absent while it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// The parts that do not work at the moment.
    #[serde(flatten)]
    pub degraded: Degraded,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
