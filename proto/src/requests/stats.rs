//! `memory_stats`: what it takes and what it gives.

use crate::group::GroupName;
use crate::requests::recall::Degraded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to count.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsRequest {
    /// Only this project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// The store in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct StatsReply {
    /// Active and superseded memories together.
    pub total_memories: u64,
    /// Memories that recall can find.
    pub active_memories: u64,
    /// Memories that were replaced, compacted or forgotten.
    pub superseded_memories: u64,
    /// Active memories of each type.
    pub by_type: BTreeMap<String, u64>,
    /// Active memories of each scope.
    pub by_scope: BTreeMap<String, u64>,
    /// Relations between entities.
    pub entity_relations: u64,
    /// Size of the database file, in bytes.
    pub db_size_bytes: u64,
    /// When the oldest active memory was made, ISO 8601, UTC.
    pub oldest_memory: Option<String>,
    /// When the newest active memory was made, ISO 8601, UTC.
    pub newest_memory: Option<String>,
    /// Forgotten memories that can be restored; they count as superseded above.
    pub forgotten: u64,
    /// Memories that a summary stands for; they count as superseded above.
    pub compacted: u64,
    /// Active memories whose time is over.
    pub expired: u64,
    /// Active memories whose confidence is below 0.1: candidates for cleanup.
    #[serde(default)]
    pub flagged: u64,
    /// Active memories that have no vector yet and are found by their words alone.
    pub without_vector: u64,
    /// What does not work at the moment, and what to do about it.
    #[serde(flatten)]
    pub degraded: Degraded,
}
