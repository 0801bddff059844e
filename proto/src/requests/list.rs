//! `list`: lists memories by attribute (`loci list`).
//!
//! Request:
//! ```json
//! {"type": "episodic", "status": "active", "older_than_seconds": 86400, "limit": 10}
//! ```
//! Reply:
//! ```json
//! {"memories": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "episodic", "scope": "group", "group": "shop", "status": "active",
//!  "confidence": 0.8, "origin": "agent", "client": "claude-code 2.0", "trust": "agent", "created_at": "2026-01-05T09:00:00Z", "preview": "Anna moved the shop to Postgres 17."}], "total": 11, "next": 41}
//! ```

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Provenance, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `list`: filters that are combined with AND, and the page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Only this type.
    #[serde(default, rename = "type")]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// `active` (the default), `superseded`, `compacted`, `forgotten`, `expired`, `pinned`, `flagged` or `all`.
    #[serde(default)]
    pub status: Option<String>,
    /// Only memories with flags: their text looks like an order to a model, or disagrees with a more trusted memory.
    #[serde(default)]
    pub flags: bool,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// All projects.
    #[serde(default)]
    pub all_groups: bool,
    /// Only memories that were stored in the project, without global memories of other projects.
    #[serde(default)]
    pub from_group: bool,
    /// Only memories whose text contains this, ignoring case.
    #[serde(default)]
    pub text: Option<String>,
    /// Only memories stored at least this many seconds ago.
    #[serde(default)]
    pub older_than_seconds: Option<i64>,
    /// Only memories whose confidence is below this.
    #[serde(default)]
    pub confidence_below: Option<Confidence>,
    /// Only memories stored before this one: `next` of the previous page.
    #[serde(default)]
    pub before: Option<i64>,
    /// Memories per page, 1 to 1000; default 50.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Reply of `list`: one page, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListReply {
    /// The memories.
    pub memories: Vec<ListedMemory>,
    /// Number of memories on all pages.
    pub total: usize,
    /// Value of `before` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// A memory as a line of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its scope.
    pub scope: Scope,
    /// Display name of the project that it was stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// Current confidence, 0 to 1.
    pub confidence: Confidence,
    /// True if its confidence does not decay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Who stored it, and how far it is trusted.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// First line, at most 80 characters.
    pub preview: String,
}
