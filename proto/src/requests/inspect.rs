//! `memory_inspect`: what it takes and what it gives.

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Scope};
use crate::requests::relate::{Neighbour, Relation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which memory to look at, and how closely.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InspectRequest {
    /// Which memory.
    pub memory_id: MemoryId,
    /// Default true.
    #[serde(default)]
    pub include_relations: Option<bool>,
    /// What happened to it, and by whom.
    #[serde(default)]
    pub include_log: bool,
    #[expect(
        clippy::doc_markdown,
        reason = "a model reads this line and every character is paid for"
    )]
    /// log_next of the page before.
    #[serde(default)]
    pub log_before: Option<i64>,
    /// Another project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Everything about one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectReply {
    /// The memory.
    pub memory: Shown,
    /// Its relations, both ways; those to forgotten memories are hidden.
    #[serde(default)]
    pub relations: Vec<Relation>,
    /// What happened to it, newest first.
    #[serde(default)]
    pub log: Vec<LogLine>,
    /// Where the next page of the log begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_next: Option<i64>,
    /// Its place among the versions of the same fact, where there is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// The memories that it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Neighbour>,
    /// Memories that name this entity, newest first, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned_in: Vec<Neighbour>,
    /// Entities that this memory names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Neighbour>,
}

/// A memory with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Which memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The whole text.
    pub content: String,
    /// Who sees it.
    pub scope: Scope,
    /// The project that it came from, by its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// 0 to 1 at this moment.
    pub confidence: Confidence,
    /// Below 0.1: a candidate for cleanup.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flagged: bool,
    /// Its confidence does not fade.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// How often it was given in full, or said again.
    pub access_count: i64,
    /// When that was last, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<String>,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// ISO 8601, UTC.
    pub updated_at: String,
    /// When its time is over, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The memory that took its place, or `forgotten`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Why it was forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_reason: Option<String>,
    /// Details by type.
    pub metadata: Map<String, Value>,
    /// Other wordings of the same fact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number.
    pub id: i64,
    /// What happened, for example `create`.
    pub operation: String,
    /// Details; never a memory's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// What the agent calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When, ISO 8601, UTC.
    pub at: String,
}

/// The versions of one fact: each was superseded by the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Versions {
    /// The first version.
    pub root: MemoryId,
    /// Which version this memory is; the first is 1.
    pub version: usize,
    /// All of them, the first first; at most 50 around this one.
    pub chain: Vec<Version>,
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Which memory.
    pub id: MemoryId,
    /// The first is 1.
    pub version: usize,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// Its first line, at most 80 characters; none once it is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}
