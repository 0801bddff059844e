//! `undo`: reverts journal entries (`loci undo`). Agents use `restore_memory` instead.
//!
//! Request:
//! ```json
//! {"id": 17}
//! ```
//! Reply:
//! ```json
//! {"undone": [{"id": 17, "act": "edit", "rows": 2, "at": "2026-01-05T09:00:00Z", "undone_at": "2026-01-05T09:05:00Z"}]}
//! ```

use crate::error::Failure;
use crate::requests::history::JournalEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Arguments of `undo`: exactly one of `id`, `last`, `since_seconds` and `ids`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// Number of one entry.
    #[serde(default)]
    pub id: Option<i64>,
    /// The newest entry of the whole store that is not undone yet.
    #[serde(default)]
    pub last: bool,
    /// All entries made within this many seconds before the call, newest first.
    #[serde(default)]
    pub since_seconds: Option<i64>,
    /// Numbers of several entries; all are undone or none.
    #[serde(default)]
    pub ids: Vec<i64>,
    /// Return the entries without undoing them.
    #[serde(default)]
    pub preview: bool,
}

/// The entries that a request selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The entry with this number.
    One(i64),
    /// The newest entry.
    Last,
    /// The entries made within this many seconds before the call.
    Since(i64),
    /// The entries with these numbers, newest first.
    These(Vec<i64>),
}

impl UndoRequest {
    /// Returns the entries that the request selects.
    ///
    /// # Errors
    /// `invalid` if none or more than one of the four arguments is given.
    pub fn target(&self) -> Result<UndoTarget, Failure> {
        match (self.id, self.last, self.since_seconds, self.ids.as_slice()) {
            (Some(id), false, None, []) => Ok(UndoTarget::One(id)),
            (None, true, None, []) => Ok(UndoTarget::Last),
            (None, false, Some(seconds), []) if seconds > 0 => Ok(UndoTarget::Since(seconds)),
            (None, false, Some(_), []) => Err(Failure::invalid("since_seconds", "must be above 0")),
            (None, false, None, [_, ..]) => {
                let newest_first: BTreeSet<_> = self.ids.iter().copied().map(Reverse).collect();
                Ok(UndoTarget::These(newest_first.into_iter().map(|Reverse(id)| id).collect()))
            }
            _ => Err(Failure::invalid(
                "id",
                "or one of last, since_seconds and ids is required, and only one of them",
            )),
        }
    }
}

/// Reply of `undo`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoReply {
    /// The entries that were undone (or would be, with `preview`), in the order of undoing.
    pub undone: Vec<JournalEntry>,
}
