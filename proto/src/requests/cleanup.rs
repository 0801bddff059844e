//! `cleanup`: forgets memories whose confidence has decayed and that are not used (`loci cleanup`).
//!
//! Request:
//! ```json
//! {"dry_run": true}
//! ```
//! Reply:
//! ```json
//! {"memories": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "episodic", "confidence": 0.04, "used_at": "2025-01-05T09:00:00Z",
//!  "preview": "Anna moved the shop to Postgres 17."}], "at": 1767600000000}
//! ```

use crate::memory::{Confidence, MemoryId, MemoryType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `cleanup`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanupRequest {
    /// Return the candidates without forgetting them.
    #[serde(default)]
    pub dry_run: bool,
    /// Time as of which the candidates are selected, milliseconds since 1970: `at` of a dry run's reply. Default: the present time.
    #[serde(default)]
    pub at: Option<i64>,
}

/// Reply of `cleanup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CleanupReply {
    /// The memories that were forgotten, or would be, oldest first.
    pub memories: Vec<CleanupCandidate>,
    /// Time as of which the memories were selected, milliseconds since 1970.
    pub at: i64,
    /// Number of the journal entry, for `loci undo`; absent if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// A memory with low confidence that is not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CleanupCandidate {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its decayed confidence, 0 to 1.
    pub confidence: Confidence,
    /// Time of its last use, or of its creation if it was never used, ISO 8601, UTC.
    pub used_at: String,
    /// First line, at most 80 characters.
    pub preview: String,
}
