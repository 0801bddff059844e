//! `redo`: takes back an undo (`loci redo`), so that what it reverted is in force again.
//!
//! Request:
//! ```json
//! {"id": 17}
//! ```
//! Reply:
//! ```json
//! {"undo": {"id": 18, "act": "undo", "rows": 3, "at": "2026-01-05T09:05:00Z", "undone_at": "2026-01-05T09:06:00Z"},
//!  "redone": [{"id": 17, "act": "edit", "rows": 2, "at": "2026-01-05T09:00:00Z"}]}
//! ```

use crate::requests::history::JournalEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `redo`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedoRequest {
    /// Number of an undone act; default: the acts of the last undo. Acts that one undo reverted together are redone together.
    #[serde(default)]
    pub id: Option<i64>,
    /// Return the acts without redoing them.
    #[serde(default)]
    pub preview: bool,
}

/// Reply of `redo`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedoReply {
    /// The undo that is taken back.
    pub undo: JournalEntry,
    /// The acts that are in force again, oldest first.
    pub redone: Vec<JournalEntry>,
}
