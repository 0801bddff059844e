//! `backup`: makes a verified backup of the store (`loci backup create`).
//!
//! The other commands of `loci backup` are run by `locid` itself, also while no daemon runs; their
//! replies are here too.
//!
//! Request:
//! ```json
//! {}
//! ```
//! Reply:
//! ```json
//! {"id": "memory-20260105T090000Z", "path": "/home/anna/.loci/backups/memory-20260105T090000Z.db", "created_at": "2026-01-05T09:00:00.000Z", "reason": "manual", "bytes": 1507328, "memories": 12, "schema": 5, "verified_at": "2026-01-05T09:00:00.000Z"}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `backup`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {}

/// One backup; also the reply of `backup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupEntry {
    /// The name of the file without its extension.
    pub id: String,
    /// The database file.
    pub path: String,
    /// When it was made, ISO 8601, UTC.
    pub created_at: String,
    /// Why it was made; `unknown` if it has no manifest.
    pub reason: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of memories of any status; absent without a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<usize>,
    /// Version of its schema; absent without a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<i64>,
    /// When it was last verified, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<String>,
    /// When it was last opened and searched as a test, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drilled_at: Option<String>,
    /// What the last verification or drill found wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Reply of `loci backup list` (oldest first) and `loci backup verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupList {
    /// The backups.
    pub backups: Vec<BackupEntry>,
}

/// What `loci backup restore` is going to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestorePlan {
    /// The backup, which was verified.
    pub backup: BackupEntry,
    /// Number of memories of the present store; absent if it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories_now: Option<usize>,
}

/// Reply of `loci backup restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreBackupReply {
    /// The backup that was restored.
    pub backup: String,
    /// Number of memories of the restored store.
    pub memories: usize,
    /// Number of memories before; absent if the store could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memories_before: Option<usize>,
    /// Number of memories that were hard-deleted since the backup, and were deleted again.
    pub forgotten_again: usize,
    /// Number of secrets that were replaced in the store since the backup, and were replaced again.
    #[serde(default)]
    pub redacted_again: usize,
    /// The folder with the files as they were.
    pub quarantine: String,
    /// The backup of the store as it was; absent if none could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety_backup: Option<String>,
}

/// Reply of `loci doctor --recover`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoverReply {
    /// The report in sentences; says that nothing was done if the store is whole.
    pub report: String,
    /// The backup that was restored; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// Number of memories of the store.
    pub memories: usize,
    /// Memories and relations that were added or changed from the damaged files.
    pub salvaged: usize,
    /// An upper bound of the lost changes.
    pub lost: usize,
    /// The folder with the damaged files; absent if nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
}
