//! Looking after the whole store: emptying it, and what backups still hold.

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Remove everything that is stored.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    /// Only say what would be removed.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetReply {
    /// Memories, whatever their status.
    pub memories: usize,
    /// The backup that was made first; none where there was nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
}

/// Remove the backups that still hold a memory which was removed for good.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeRequest {
    /// Which memory.
    pub memory_id: MemoryId,
}

/// What became of the backups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeReply {
    /// Those that were removed, oldest first.
    pub removed: Vec<String>,
    /// Those that cannot be read, and may hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}
