//! `bridge`, `bridge_switch`, `bridge_file` and `bridge_block`: the versions of clients' own memory files (`loci bridge`).
//!
//! Request and reply of `bridge`:
//! ```json
//! {"scan": true, "files": true}
//! ```
//! ```json
//! {"clients": [{"client": "claude", "folder": "/home/anna/.claude", "since": "2026-02-01T09:00:00.000Z",
//!   "scanned_at": "2026-02-01T09:05:00.000Z", "files": 2, "gone": 1, "versions": 5, "imported": 7}],
//!   "files": [{"client": "claude", "path": "/home/anna/.claude/projects/-home-anna-shop/memory/MEMORY.md", "project": "shop",
//!   "versions": 3, "changed_at": "2026-02-01T09:05:00.000Z", "gone": true}],
//!   "reworded": 1, "kept_bytes": 4096, "max_bytes": 33554432, "interval_seconds": 60, "problems": ["/x/big.md has more than 1 MiB"]}
//! ```
//! Request and reply of `bridge_switch`:
//! ```json
//! {"client": "claude", "on": true, "folder": "/home/anna/.claude", "other": "/home/anna/notes",
//!   "projects": [{"name": "-home-anna-shop", "path": "/home/anna/shop/.git", "part": "api", "off": true, "opted_in": true}]}
//! ```
//! ```json
//! {"client": "claude", "on": true, "files": 2, "versions": 2, "imported": 7}
//! ```
//! Request and reply of `bridge_file`:
//! ```json
//! {"file": "shop/memory/MEMORY.md", "version": 2}
//! ```
//! ```json
//! {"path": "/home/anna/.claude/projects/-home-anna-shop/memory/MEMORY.md", "roots": ["/home/anna/.claude/projects"], "client": "claude",
//!   "versions": [{"number": 2, "at": "2026-02-01T09:05:00.000Z", "bytes": 120, "replaced": 1, "deleted": true}],
//!   "number": 2, "text": "- Deploy with just ship\n", "mode": 384, "current": "9f86d081"}
//! ```
//! Request and reply of `bridge_block`:
//! ```json
//! {"client": "claude", "max_lines": 40}
//! ```
//! ```json
//! {"lines": ["- Deploy with just ship"], "withheld": 2, "project": "shop", "folder": "/home/anna/.claude"}
//! ```

use crate::gate::ModelText;
use crate::group::GroupName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The first line of the part of a memory file that loci writes.
pub const BLOCK_BEGIN: &str =
    "<!-- loci:begin - written by loci bridge write; change it with loci -->";
/// Its last line.
pub const BLOCK_END: &str = "<!-- loci:end -->";
/// Lines of a MEMORY.md that Claude Code loads at the start of a session.
pub const LOADED_LINES: usize = 200;
/// Bytes of it that are loaded.
pub const LOADED_BYTES: usize = 25_000;

/// Returns the SHA-256 of a file as hexadecimal digits.
#[must_use]
pub fn file_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns the name that Claude Code gives to the folder of a project.
#[must_use]
pub fn claude_folder_name(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A client whose own memory can be watched.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BridgeClient {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl BridgeClient {
    /// All clients.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// Returns the name, as in `loci hook`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Returns the client with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == name)
    }
}

/// Arguments of `bridge`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeRequest {
    /// Read the files first.
    #[serde(default)]
    pub scan: bool,
    /// Also list the files.
    #[serde(default)]
    pub files: bool,
}

/// Reply of `bridge`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeReply {
    /// The clients that are watched.
    pub clients: Vec<BridgeClientStatus>,
    /// The files; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<BridgeFile>,
    /// Number of texts that a person confirmed and that their files have reworded since; the new wordings wait.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reworded: u64,
    /// Size of all versions, compressed.
    pub kept_bytes: u64,
    /// Its limit.
    pub max_bytes: u64,
    /// Seconds between two looks at the files.
    pub interval_seconds: u64,
    /// What could not be read, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// One watched client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeClientStatus {
    /// `claude` or `codex`.
    pub client: String,
    /// The client's folder.
    pub folder: String,
    /// When it was switched on, ISO 8601, UTC.
    pub since: String,
    /// When its files were last looked at; absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<String>,
    /// Number of files that exist.
    pub files: u64,
    /// Number of files that the client deleted.
    pub gone: u64,
    /// Number of versions.
    pub versions: u64,
    /// Number of statements that are in the store.
    pub imported: u64,
}

/// One file of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeFile {
    /// `claude` or `codex`.
    pub client: String,
    /// Its path.
    pub path: String,
    /// Its project, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Number of versions.
    pub versions: u64,
    /// Time of the newest version, ISO 8601, UTC.
    pub changed_at: String,
    /// The client deleted it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// Arguments of `bridge_switch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeSwitchRequest {
    /// The client.
    pub client: BridgeClient,
    /// Watch its files, or no longer; versions and memories stay.
    pub on: bool,
    /// The client's folder; required with `on`.
    #[serde(default)]
    pub folder: Option<String>,
    /// Another folder in which it keeps its memory.
    #[serde(default)]
    pub other: Option<String>,
    /// The projects behind the names of its folders, as far as they could be found.
    #[serde(default)]
    pub projects: Vec<BridgeProject>,
}

/// The project of one folder of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeProject {
    /// The name that the client gave to the folder.
    pub name: String,
    /// The folder that identifies the project.
    pub path: String,
    /// The name in its `.loci.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<GroupName>,
    /// Its files switch loci off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// It has a `.loci.toml`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opted_in: bool,
}

/// Reply of `bridge_switch`: the counts are those of the first scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeSwitchReply {
    /// The client.
    pub client: String,
    /// Whether it is watched now.
    pub on: bool,
    /// Number of files that were read.
    #[serde(default)]
    pub files: u64,
    /// Number of versions that were added.
    #[serde(default)]
    pub versions: u64,
    /// Number of memories that were added.
    #[serde(default)]
    pub imported: u64,
}

/// Arguments of `bridge_file`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeFileRequest {
    /// The path of the file, or its end.
    pub file: String,
    /// Also return the text of this version; 0 for the newest that differs from the file.
    #[serde(default)]
    pub version: Option<i64>,
}

/// Reply of `bridge_file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeFileReply {
    /// The path.
    pub path: String,
    /// The folders in which the client keeps its memory.
    pub roots: Vec<String>,
    /// The client.
    pub client: String,
    /// Its versions, newest first.
    pub versions: Vec<BridgeVersion>,
    /// The version of `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// The text of the version that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The mode of that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// SHA-256 of the file as it was last read; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
}

/// One version of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeVersion {
    /// Its number, from 1.
    pub number: i64,
    /// When it was seen, ISO 8601, UTC.
    pub at: String,
    /// Size of its text.
    pub bytes: u64,
    /// Number of parts that were not kept: secrets, private parts, erased statements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replaced: u64,
    /// The file was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Arguments of `bridge_block`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeBlockRequest {
    /// The client.
    pub client: BridgeClient,
    /// Maximum number of lines.
    #[serde(default)]
    pub max_lines: Option<usize>,
}

/// Reply of `bridge_block`: the memories of the caller's project that belong into the client's memory file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeBlockReply {
    /// One line for each memory.
    pub lines: Vec<ModelText>,
    /// Number of memories that the file has already.
    #[serde(default)]
    pub withheld: u64,
    /// The project.
    pub project: String,
    /// The client's folder, if it is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}
