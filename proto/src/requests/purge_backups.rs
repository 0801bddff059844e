//! `purge_backups`: deletes the backups that hold a permanently deleted memory (`loci forget --hard --purge-backups`).
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab"}
//! ```
//! Reply:
//! ```json
//! {"removed": ["memory-20260105T090000Z.db"], "unreadable": ["memory-20251205T090000Z.db"]}
//! ```

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `purge_backups`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeBackupsRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
}

/// Reply of `purge_backups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeBackupsReply {
    /// The backups that were deleted, oldest first.
    pub removed: Vec<String>,
    /// Backups that cannot be read and may hold the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}
