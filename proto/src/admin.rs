//! Request and reply bodies of the admin socket: HTTP with JSON between `loci ctl` and the daemon.
//!
//! `POST /verbs/pin` with `{"session": {"id": "…", "pid": 7}, "arguments": {"memory_id": "…", "pinned": true}}` returns the reply of the verb
//! ([`crate::requests::pin`]), or a [`crate::error::Failure`].

use crate::http::HttpStatus;
use crate::off::OffReason;
use serde::{Deserialize, Serialize};

/// Reply of `GET /status`; `loci ctl status --json` prints it unchanged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's version.
    pub version: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Seconds since the daemon started.
    pub uptime_s: u64,
    /// Path of the database.
    pub database: String,
    /// The embedding model: the one whose vectors are searched.
    pub model: ModelStatus,
    /// The re-embedding in progress; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re_embedding: Option<ReembeddingStatus>,
    /// Number of active memories, but for those of isolated projects.
    pub memories: u64,
    /// The search index; absent while the store is being opened.
    #[serde(default)]
    pub index: Option<IndexStatus>,
    /// Connected agents.
    pub sessions: Vec<SessionStatus>,
    /// Number of unfinished jobs by kind of worker.
    pub queues: QueueLengths,
    /// Parts that do not work at the moment, for example `embedding`.
    pub degraded: Vec<String>,
    /// When the whole store was last checked, ISO 8601, UTC; absent before the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_full_check: Option<String>,
    /// Warnings for the user, in sentences; contains those of `storage`.
    pub warnings: Vec<String>,
    /// The warnings about storage, and lasting notices.
    #[serde(default)]
    pub storage: Vec<StorageWarning>,
    /// The backups.
    #[serde(default)]
    pub backups: BackupStatus,
    /// Where loci is off.
    #[serde(default)]
    pub switches: SwitchStatus,
    /// The hooks of clients.
    #[serde(default)]
    pub hooks: HookStatus,
    /// The verbs that were called since the daemon started.
    #[serde(default)]
    pub latencies: Vec<VerbLatency>,
    /// Where HTTP clients are served; absent while they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpStatus>,
    /// Where viewers are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub viewers: Vec<String>,
}

/// How often a verb was called since the daemon started, and how long it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerbLatency {
    /// Its name.
    pub verb: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that were refused or failed.
    pub failed: u64,
    /// Half of the latest 256 calls took at most this long, in milliseconds.
    pub p50_ms: f64,
    /// 99 % of them took at most this long.
    pub p99_ms: f64,
    /// The slowest of them.
    pub max_ms: f64,
}

/// Where loci is off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchStatus {
    /// Names of the projects that a person has switched off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<String>,
    /// Only projects with a `.loci.toml` are served.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opt_in: bool,
    /// Number of connected sessions that are incognito.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub incognito: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The hooks of clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStatus {
    /// Number of events of the last 90 days at which the daemon could not be reached in time.
    pub missed: u64,
    /// Each client whose hooks have fired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<HookClientStatus>,
}

/// The hooks of one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookClientStatus {
    /// The client, as in `loci hook CLIENT`.
    pub client: String,
    /// When a hook of it last reached the daemon, ISO 8601, UTC; absent if none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<String>,
    /// When a text was last delivered to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivery: Option<String>,
    /// Number of texts delivered in the last 90 days.
    pub delivered: u64,
    /// Number of events that were missed in the last 90 days.
    pub missed: u64,
}

/// Reply of `locid paths`: the places that the configuration decides about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Places {
    /// The database file.
    pub database: std::path::PathBuf,
    /// The folder of the model.
    pub models: std::path::PathBuf,
}

/// The backups, and when they were last made and tested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupStatus {
    /// Number of backups.
    pub count: usize,
    /// Bytes of all backups.
    pub bytes: u64,
    /// When the newest backup was made, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// When a backup was last verified, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_verified: Option<String>,
    /// When a backup was last opened and searched as a test, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_drill: Option<String>,
    /// What the last verification or drill of the newest backups found wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// A condition of the storage that needs attention, or a lasting notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageWarning {
    /// Its kind.
    pub kind: WarningKind,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// The next step, one sentence without a full stop.
    pub next_step: String,
    /// When it began, ISO 8601, UTC.
    pub since: String,
}

impl StorageWarning {
    /// Returns message and next step as sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}. {}.", self.message.trim_end_matches('.'), self.next_step)
    }
}

/// Kind of a [`StorageWarning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The database is damaged.
    Damaged,
    /// Rows are damaged and left out; everything else is served.
    DamagedRows,
    /// A write failed.
    WriteFailed,
    /// Three checkpoints in a row failed.
    CheckpointsFail,
    /// A checkpoint failed.
    Checkpoint,
    /// The disk is full.
    DiskFull,
    /// The database cannot be written.
    ReadOnly,
    /// Little space is left on the disk.
    LowSpace,
    /// A folder or file can be opened by other users.
    OpenToOthers,
    /// No backup could be made, or one is faulty.
    Backup,
    /// A lasting notice.
    Notice,
}

impl WarningKind {
    /// Returns the kind as it appears in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::DamagedRows => "damaged_rows",
            Self::WriteFailed => "write_failed",
            Self::CheckpointsFail => "checkpoints_fail",
            Self::Checkpoint => "checkpoint",
            Self::DiskFull => "disk_full",
            Self::ReadOnly => "read_only",
            Self::LowSpace => "low_space",
            Self::OpenToOthers => "open_to_others",
            Self::Backup => "backup",
            Self::Notice => "notice",
        }
    }

    /// Returns true if something does not work; the others need attention.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            Self::Damaged
                | Self::DamagedRows
                | Self::WriteFailed
                | Self::CheckpointsFail
                | Self::DiskFull
                | Self::ReadOnly
                | Self::OpenToOthers
        )
    }
}

/// The embedding model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelStatus {
    /// For example `all-MiniLM-L6-v2`.
    pub id: String,
    /// SHA-256 of the weights in hexadecimal; empty until they are read.
    pub sha256: String,
    /// `loading`, `ready`, `missing` or `failed`.
    pub state: String,
}

/// A re-embedding in progress: all memories are encoded again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReembeddingStatus {
    /// The id of the model whose vectors are searched until then.
    pub from: String,
    /// The id of the model that encodes the memories.
    pub to: String,
    /// Number of memories that are encoded.
    pub done: u64,
    /// Number of memories to encode.
    pub total: u64,
    /// `running`; `loading` while the model is being loaded; `waiting` while it cannot be used.
    pub state: String,
}

impl ReembeddingStatus {
    /// Returns the progress: `re-embedding 1,024 of 10,000`, and why it waits.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (done, total) = (with_commas(self.done), with_commas(self.total));
        let waiting = if self.state == "waiting" { ", waiting for the model" } else { "" };
        format!("re-embedding {done} of {total}, by {}{waiting}", self.to)
    }
}

/// Formats a number as `12,345`.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups.filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// The search index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexStatus {
    /// `loading` or `ready`; during loading recalls use keyword search only.
    pub state: String,
    /// Number of memories read so far.
    pub read: usize,
    /// Number of memories when loading began.
    pub of: usize,
    /// Where it was loaded from (`database` or `file`); absent during loading.
    #[serde(default)]
    pub from: Option<String>,
}

/// One connected agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Name and version of the client; absent until it has sent them.
    pub client: Option<String>,
    /// Display name of the project; `(isolated)` for one that is isolated.
    pub group: String,
    /// Process id of the shim; absent for a client over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Number of tool calls so far.
    pub calls: u64,
    /// Time of the connection, ISO 8601, UTC.
    pub since: String,
    /// Seconds since the connection.
    #[serde(default)]
    pub age_s: u64,
    /// Id of the session.
    #[serde(default)]
    pub id: String,
    /// Why loci is off in the session; absent while it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<OffReason>,
}

/// Number of queued and running jobs of each kind of worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QueueLengths {
    /// Jobs of the writer thread.
    pub writer: usize,
    /// Jobs of the reader threads.
    pub readers: usize,
    /// Texts submitted to the model that have no vector yet.
    pub embedding: usize,
}

/// Body of `POST /verbs/NAME`: a call of a verb from the command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerbCall {
    /// The calling process and its project.
    pub session: crate::hello::Session,
    /// The verb's arguments.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// Last line of an export that failed before its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedExport {
    /// Why it failed.
    pub error: crate::error::Failure,
}

/// Reply of a request that returns no data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// The action that was carried out, one sentence.
    pub done: String,
}
