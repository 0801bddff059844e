//! `history`: lists journal entries (`loci history`). Every transaction that changes the store, except a plain store, is one entry.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab", "limit": 5}
//! ```
//! Reply:
//! ```json
//! {"acts": [{"id": 17, "act": "edit", "rows": 2, "client": "loci 0.1.0", "group": "shop", "at": "2026-01-05T09:00:00Z"}], "next": 17}
//! ```

use crate::memory::{MemoryId, MemoryType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum changed texts of an entry.
pub const MAX_CHANGED_TEXTS: usize = 3;

/// Arguments of `history`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryRequest {
    /// Only entries that changed this memory.
    #[serde(default)]
    pub memory_id: Option<MemoryId>,
    /// Only what this session did: an id of a session, or its beginning.
    #[serde(default)]
    pub session: Option<String>,
    /// Only entries older than this one: `next` of the previous page.
    #[serde(default)]
    pub before: Option<i64>,
    /// Entries per page, 1 to 1000; default 20.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Reply of `history`: one page, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryReply {
    /// The entries.
    pub acts: Vec<JournalEntry>,
    /// Value of `before` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// With `session` on the first page: the memories that the session stored, newest first, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<StoredMemory>,
}

/// A memory that a session stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// When it was stored, ISO 8601, UTC.
    pub at: String,
    /// First line, at most 80 characters.
    pub preview: String,
}

/// One entry of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its number.
    pub id: i64,
    /// The operation, for example `forget`.
    pub act: String,
    /// Number of rows that it changed.
    pub rows: usize,
    /// Name of the client that made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Session of the agent that made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Time of the change, ISO 8601, UTC.
    pub at: String,
    /// Time when it was undone; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<String>,
    /// The texts of memories that it changed, and the names of projects; at most 3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedText>,
}

/// What an act changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedText {
    /// The memory; absent for a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// First line of its text after the act, at most 80 characters; the name of a project.
    pub preview: String,
    /// First line of its text before the act, if the act changed the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}
