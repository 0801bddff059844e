//! `diff`: lists how what is known has changed between two times (`loci diff`).
//!
//! Request:
//! ```json
//! {"since": "2026-02-01", "limit": 10}
//! ```
//! Reply:
//! ```json
//! {"since": "2026-02-01T00:00:00.000Z", "until": "2026-02-03T09:00:00.000Z", "history_from": "2026-01-01T08:00:00.000Z", "total": 1, "changes":
//!  [{"change": "changed", "id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "semantic", "status": "active", "group": "shop",
//!    "at": "2026-02-02T10:00:00.000Z", "client": "codex", "text": "The shop runs on Postgres 17", "before": "The shop runs on Postgres 16"}]}
//! ```

use crate::group::GroupName;
use crate::memory::{MemoryId, MemoryType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `diff`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffRequest {
    /// From here on: a day (its beginning), a time or a time ago: yesterday, 2026-11-01, 3d.
    pub since: String,
    /// Up to here: a day (its end), a time or a time ago; default: now.
    #[serde(default)]
    pub until: Option<String>,
    /// Only memories that are, or were, in this project.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// All projects.
    #[serde(default)]
    pub all_groups: bool,
    /// Maximum changes, the latest first, 1 to 1000; default 100.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Reply of `diff`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DiffReply {
    /// The first time, ISO 8601, UTC.
    pub since: String,
    /// The second time.
    pub until: String,
    /// The history of the store is complete from this time on.
    pub history_from: String,
    /// What the reply may lack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The changed memories, the latest change first; of each the whole change between the two times.
    pub changes: Vec<MemoryChange>,
    /// Number of all changed memories.
    pub total: usize,
}

/// How one memory has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// `new`, `changed`, `forgotten`, `superseded`, `confirmed`, `restored`, `rejected`, `compacted`, `moved` or `removed` (by an undo).
    pub change: String,
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its status at the second time.
    pub status: String,
    /// Display name of its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Time of its last change between the two, ISO 8601, UTC.
    pub at: String,
    /// The client that made that change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session that made that change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its text, at most 2,000 characters.
    pub text: String,
    /// Its text at the first time, if it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What else was changed: `metadata`, `scope`, `pinned`, `expires_at`, `type` or `group`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The memory that replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Why it was forgotten or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
