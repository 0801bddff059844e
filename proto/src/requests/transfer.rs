//! Export and import: what a person asks for, and what became of it. What the lines of an export hold is `docs/format.md`.

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format that this build writes, and the only one that it reads.
pub const VERSION: u32 = 1;
/// Longest line of an export, in bytes, newline included.
pub const LINE_BYTES: usize = crate::limits::LINE_BYTES;
/// Most bytes of one import.
pub const IMPORT_BYTES: u64 = 4 << 30;
/// Ids and skipped lines that a report names; of further ones it only says how many there are.
pub const NAMED: usize = 100;

/// How an export is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// JSON Lines: one record a line.
    #[default]
    Lines,
    /// One JSON document that holds the same records.
    Document,
}

/// What to export. It always is the whole store.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportRequest {
    /// Lines, or one document.
    #[serde(default)]
    pub layout: Layout,
    /// Also the vectors, which can be made anew from the texts.
    #[serde(default)]
    pub vectors: bool,
}

/// How to import.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// Leave out lines that cannot be imported; else the first one refuses the whole file.
    #[serde(default)]
    pub skip_bad: bool,
}

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// What an import has done: one act.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReply {
    /// Memories that are new here.
    pub added: usize,
    /// Memories that were known and that the file knew better.
    pub changed: usize,
    /// Memories that were known as the file has them, or better.
    pub unchanged: usize,
    /// Relations that are new here.
    pub relations: usize,
    /// Lines of the audit log that are new here.
    pub log_lines: usize,
    /// Groups that are new here.
    pub groups: usize,
    /// Other wordings, sources, evidence, aliases, tombstones and clusters that are new here.
    pub other: usize,
    /// Memories whose vectors came with the file.
    pub vectors: usize,
    /// Lines that were refused because they name a memory that was removed for good.
    pub refused: usize,
    /// Those memories, at most [`NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_ids: Vec<MemoryId>,
    /// Lines that could not be imported and were left out.
    pub skipped: usize,
    /// Those lines, at most [`NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_lines: Vec<Skipped>,
    /// What else a person should know, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The number of the act, for `loci undo`; none when nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
