//! `memory_inspect`: returns one memory with everything that is stored about it.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab", "include_log": true}
//! ```
//! Reply:
//! ```json
//! {"memory": {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "semantic", "content": "Anna prefers tabs over spaces.", "scope": "global",
//!   "status": "active", "confidence": 0.9, "origin": "agent", "client": "claude-code 2.0", "trust": "agent", "access_count": 2, "created_at": "2026-01-05T09:00:00Z", "updated_at": "2026-01-05T09:00:00Z",
//!   "metadata": {"category": "preference"}},
//!  "relations": [], "log": [{"id": 40, "operation": "create", "client": "claude-code 2.0", "at": "2026-01-05T09:00:00Z"}]}
//! ```

use crate::as_of::AsOf;
use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Provenance, Scope};
use crate::requests::relate::{MemoryPreview, Relation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments of `memory_inspect`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InspectRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
    /// Also its relations; default true.
    #[serde(default)]
    pub include_relations: Option<bool>,
    /// Also the log: what changed it, when, and by which client.
    #[serde(default)]
    pub include_log: bool,
    /// `log_next` of the previous page.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub log_before: Option<i64>,
    /// `relations_next` of the previous page.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub relations_before: Option<String>,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// As it was known on this day.
    #[serde(default)]
    pub as_of: Option<String>,
}

/// Reply of `memory_inspect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectReply {
    /// The memory.
    pub memory: MemoryDetails,
    /// A page of its relations in both directions, newest first, without those to forgotten memories.
    #[serde(default)]
    pub relations: Vec<Relation>,
    /// Value of `relations_before` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relations_next: Option<String>,
    /// A page of its audit log, newest first.
    #[serde(default)]
    pub log: Vec<AuditEntry>,
    /// Value of `log_before` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_next: Option<i64>,
    /// All versions of the fact; absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<VersionChain>,
    /// The memories that it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<MemoryPreview>,
    /// Memories that mention this entity, newest first, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned_in: Vec<MemoryPreview>,
    /// Entities that this memory mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<MemoryPreview>,
    /// The time at which the memory is shown; only with `as_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A memory with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryDetails {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The full text.
    pub content: String,
    /// Its scope.
    pub scope: Scope,
    /// Display name of the project that it was stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `active`, `superseded`, `compacted`, `forgotten`, `candidate` or `rejected`; `dormant` for an active memory whose confidence fell below
    /// `maintenance.dormant_threshold`.
    pub status: String,
    /// Current confidence, 0 to 1.
    pub confidence: Confidence,
    /// True if its confidence is below 0.1: a candidate for cleanup.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flagged: bool,
    /// How much it differed from what was known, raised by use: 0.7 to 1.5. Absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// True if its confidence does not decay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Who stored it, and how far it is trusted.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// How often it was returned in full or stored again.
    pub access_count: i64,
    /// Time of the last such access, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<String>,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// ISO 8601, UTC.
    pub updated_at: String,
    /// The day of its event as its text names it; absent if the metadata has an `event_date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_date_derived: Option<String>,
    /// When the memory expires, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The memory that replaced this one, or `forgotten`.
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

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its number.
    pub id: i64,
    /// The operation, for example `create`.
    pub operation: String,
    /// Details; never the text of a memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Name of the client that called the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Session of the agent that called the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Time of the operation, ISO 8601, UTC.
    pub at: String,
}

/// The versions of one fact; each was superseded by the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionChain {
    /// The first version.
    pub root: MemoryId,
    /// Version number of this memory; the first is 1.
    pub version: usize,
    /// Whether no later version is known.
    #[serde(default)]
    pub is_latest: bool,
    /// The version that this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// The versions, oldest first; at most 50 around this one.
    pub chain: Vec<Version>,
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Id of the memory.
    pub id: MemoryId,
    /// Version number; the first is 1.
    pub version: usize,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// First line, at most 80 characters; absent if the version is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}
