//! `import`: merges an export into the store (`loci import`). The file is sent as the body of the HTTP request.
//!
//! Request:
//! ```json
//! {"skip_bad": true}
//! ```
//! Reply:
//! ```json
//! {"added": 2, "changed": 1, "unchanged": 0, "relations": 0, "log_lines": 3, "flagged": 0, "groups": 1, "other": 0, "vectors": 0, "refused": 0,
//!  "skipped": 1, "skipped_lines": [{"line": 7, "reason": "cannot be read: expected value"}], "act": 19}
//! ```

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum size of an import, in bytes.
pub const IMPORT_BYTES: u64 = 4 << 30;
/// Maximum number of ids and of skipped lines that a reply lists; further ones are only counted.
pub const MAX_NAMED: usize = 100;

/// Arguments of `import`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// Skip lines that cannot be imported; by default the first such line fails the import.
    #[serde(default)]
    pub skip_bad: bool,
    /// The texts are the person's own: a line that claims the trust of a person gets it, unless its text is flagged. Ignored for agents.
    #[serde(default)]
    pub own_texts: bool,
}

/// A line that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLine {
    /// Line number, from 1.
    pub line: usize,
    /// Why it cannot be imported.
    pub reason: String,
}

/// Reply of `import`. One import is one transaction and one journal entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReply {
    /// New memories.
    pub added: usize,
    /// Existing memories that the file updated.
    pub changed: usize,
    /// Existing memories that are equal to or newer than those in the file.
    pub unchanged: usize,
    /// New relations.
    pub relations: usize,
    /// New lines of the audit log.
    pub log_lines: usize,
    /// New or updated memories that are flagged.
    #[serde(default)]
    pub flagged: usize,
    /// New groups.
    pub groups: usize,
    /// New wording variants, sources, evidence, aliases, tombstones and clusters.
    pub other: usize,
    /// Memories whose vectors were imported.
    pub vectors: usize,
    /// Lines that were refused because they name a permanently deleted memory.
    pub refused: usize,
    /// Ids of these memories, at most [`MAX_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_ids: Vec<MemoryId>,
    /// Number of skipped lines.
    pub skipped: usize,
    /// The skipped lines, at most [`MAX_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_lines: Vec<SkippedLine>,
    /// What was replaced in the lines, for example `line 7: github-token at 17..57`; at most [`MAX_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Further information for the user, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Number of the journal entry, for `loci undo`; absent if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
