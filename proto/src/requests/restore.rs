//! `restore_memory`: makes a forgotten, superseded or compacted memory active again.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab"}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "status": "active", "was": "forgotten", "act": 13}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `restore_memory`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `restore_memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoreReply {
    /// Id of the memory.
    pub id: MemoryId,
    /// `active`.
    pub status: String,
    /// Its status before.
    pub was: String,
    /// The project that stored the memory, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
