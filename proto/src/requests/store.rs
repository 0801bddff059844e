//! `store_memory`: what it takes and what it gives.
#![expect(
    clippy::doc_markdown,
    reason = "these lines are the tool's schema: a model reads them and every character is paid for"
)]

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Scope};
use crate::requests::recall::{Degraded, TtlSeconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What to remember, and how.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreRequest {
    /// One self-contained statement with names and full dates.
    pub content: String,
    /// episodic: what happened; semantic: fact or preference; procedural: how to; entity: who or what.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// group: this project only. Default: episodic group, others global.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// By type: event_date; category, subject; trigger, steps, version; entity_type, name, aliases, properties.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Id of the memory that this replaces.
    #[serde(default)]
    pub supersedes: Option<MemoryId>,
    /// Another project than this one.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Default 1.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// Last date or moment (RFC 3339).
    #[serde(default)]
    pub expires_at: Option<String>,
    /// Or for how long.
    #[serde(default)]
    pub ttl_seconds: Option<TtlSeconds>,
}

impl StoreRequest {
    /// The scope asked for, else the type's own.
    #[must_use]
    pub fn effective_scope(&self) -> Scope {
        self.scope.unwrap_or_else(|| self.kind.default_scope())
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreReply {
    /// The new memory, or the one that already said the same.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// True when an existing memory said the same and was reinforced instead.
    pub deduplicated: bool,
    /// The memory that this one replaced.
    pub superseded: Option<MemoryId>,
    /// When its time is over, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Memories that are close in wording but not the same fact; supersede one if it is out of date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<MemoryId>,
    /// What does not work at the moment, and what to do about it.
    #[serde(flatten)]
    pub degraded: Degraded,
}
