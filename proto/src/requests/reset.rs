//! `reset`: deletes all memories, after a backup (`loci reset`).
//!
//! Request:
//! ```json
//! {"dry_run": true}
//! ```
//! Reply:
//! ```json
//! {"memories": 3, "backup": "memory-20260105T090000Z.db"}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `reset`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    /// Count the memories without deleting them.
    #[serde(default)]
    pub dry_run: bool,
}

/// Reply of `reset`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetReply {
    /// Number of memories of any status.
    pub memories: usize,
    /// The backup that was made first; absent after a dry run, and if there was nothing to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
}
