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
use crate::memory::MemoryId;
use crate::requests::history::{JournalEntry, StoredMemory};
use crate::requests::relate::MemoryPreview;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Arguments of `undo`: exactly one of `id`, `last`, `since_seconds`, `ids` and `session`.
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
    /// Numbers of later entries that may be undone too: those that only confirmed, reviewed or pinned memories of the entry. A preview
    /// lists them as `also` and `in_part`.
    #[serde(default)]
    pub with: Vec<i64>,
    /// Everything that a session did, plain stores included: an id of a session, or its beginning.
    #[serde(default)]
    pub session: Option<String>,
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
    /// Everything that the session with this id, or this beginning of it, did.
    Session(String),
}

impl UndoRequest {
    /// Returns the entries that the request selects.
    ///
    /// # Errors
    /// `invalid` if none or more than one of the five arguments is given.
    pub fn target(&self) -> Result<UndoTarget, Failure> {
        if let (Some(session), None, false, None, []) =
            (&self.session, self.id, self.last, self.since_seconds, self.ids.as_slice())
        {
            return Ok(UndoTarget::Session(session.clone()));
        }
        if self.session.is_some() {
            return Err(Failure::invalid("session", "cannot be combined with other arguments"));
        }
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
                "or one of last, since_seconds, ids and session is required, and only one of them",
            )),
        }
    }
}

/// Reply of `undo`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UndoReply {
    /// The entries that were undone (or would be, with `preview`), in the order of undoing.
    pub undone: Vec<JournalEntry>,
    /// Later entries that only confirmed, reviewed or pinned memories of these, and that are undone too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<JournalEntry>,
    /// Later entries that did so with other memories too: for those they stay in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_part: Vec<JournalEntry>,
    /// Memories that the wordings of undone merges have become.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<MemoryPreview>,
    /// With `session`: its full id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// With `session`: the memories that it stored and that are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<StoredMemory>,
    /// With `session`: what is kept because others built on it, or because it cannot be undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedUndo>,
    /// With `session`: number of the entry that undoes all of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// A memory or an entry that undoing a session kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkippedUndo {
    /// The memory, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// The number of the entry, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// Why it is kept.
    pub reason: String,
}
