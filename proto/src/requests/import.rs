//! `import`: merges an export, or what was read of another program, into the store (`loci import`). The lines are sent as the body of the
//! HTTP request.
//!
//! Request:
//! ```json
//! {"skip_bad": true, "preview": true}
//! ```
//! Reply:
//! ```json
//! {"added": 2, "changed": 1, "unchanged": 0, "relations": 0, "log_lines": 3, "flagged": 0, "groups": 1, "other": 0, "vectors": 0, "refused": 0,
//!  "skipped": 1, "skipped_lines": [{"line": 7, "reason": "cannot be read: expected value"}], "act": 19}
//! ```

use crate::foreign::ImportSource;
use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Say what would become of each memory, and change nothing.
    #[serde(default)]
    pub preview: bool,
    /// The lines are those of another program ([`crate::foreign::ForeignLine`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignImport>,
}

/// How the memories of another program are imported.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForeignImport {
    /// What was read.
    pub from: ImportSource,
    /// A person sees the preview and says yes, which confirms what has a project and looks harmless. Ignored for agents.
    #[serde(default)]
    pub asked: bool,
    /// The project of everything, in place of those that the texts belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupName>,
}

/// What becomes of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportChange {
    /// It is new.
    New,
    /// It is stored, and changes.
    Changed,
    /// It is stored as it is.
    Unchanged,
    /// It is left out, or stays as it is here.
    LeftOut,
}

/// How far a memory of another program is trusted after the import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is the person's own text.
    Own,
    /// The person's yes confirms it, in its own project.
    Confirmed,
    /// It looks suspicious, and waits until it is confirmed alone.
    Suspicious,
    /// Its project is not known: it waits in that of the working directory, or in none.
    OfNoProject,
    /// A transcript taught it: it is a candidate until a person accepts it.
    Candidate,
    /// Nobody is asked: it waits.
    Unasked,
}

impl Standing {
    /// Returns whether briefs and hooks have it.
    #[must_use]
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::Own | Self::Confirmed)
    }
}

/// What becomes of one memory of the lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewedMemory {
    /// What becomes of it.
    pub change: ImportChange,
    /// Why it is left out, or what else changes but its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The beginning of its text, if the lines are those of an export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The beginning of its text until now, if that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The id of its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How far it is trusted, if the lines are of another program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// Why it looks suspicious, if it is new or changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// A memory that an earlier import stored from these files, and that is no longer there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its text.
    pub text: String,
}

/// What an import would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportPreview {
    /// The memories, in the order of the lines.
    pub memories: Vec<PreviewedMemory>,
    /// The names of their projects, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub projects: BTreeMap<String, String>,
    /// The ids of projects that the import makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_projects: Vec<String>,
    /// What an earlier import stored from these files, and is no longer there: it stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingMemory>,
}

/// A line that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLine {
    /// Line number, from 1; 0 if the reason says the place in the file of another program.
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
    /// What would become of each memory; the counts are then those of an import that was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ImportPreview>,
}
