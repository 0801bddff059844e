//! `export`: writes the whole store as a stream (`loci export`). `docs/format.md` describes the lines.
//!
//! Request; the reply is the export as a stream of bytes, not JSON of its own:
//! ```json
//! {"layout": "document", "vectors": true}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the export format that this build writes. It also reads the earlier ones, from 1 on.
pub const FORMAT_VERSION: u32 = 4;

/// The version of the dump format.
pub const DUMP_VERSION: u32 = 1;

/// Layout of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// JSON Lines: one record per line.
    #[default]
    Lines,
    /// One JSON document with the same records.
    Document,
    /// Sorted lines for git: without the log, and without what changes when a memory is only used.
    Dump,
    /// Markdown files, one line each: `{"path": …, "text": …}`.
    Markdown,
}

/// Arguments of `export`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportRequest {
    /// `lines` (the default), `document`, `dump` or `markdown`.
    #[serde(default)]
    pub layout: Layout,
    /// Include the vectors, which can also be recomputed from the texts.
    #[serde(default)]
    pub vectors: bool,
    /// The store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[serde(default)]
    pub as_of: Option<String>,
}
