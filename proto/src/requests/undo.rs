//! `undo` and `history`: acts, and taking them back. People's commands; agents have `restore_memory`.

use crate::error::Failure;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Which acts to take back: exactly one of the four.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// One act, by its number.
    #[serde(default)]
    pub id: Option<i64>,
    /// The newest act of the whole store that was not undone yet.
    #[serde(default)]
    pub last: bool,
    /// Every act of the last so many seconds, newest first.
    #[serde(default)]
    pub since_seconds: Option<i64>,
    /// These acts, all or none.
    #[serde(default)]
    pub ids: Vec<i64>,
    /// Only tell which acts these are; nothing is taken back.
    #[serde(default)]
    pub preview: bool,
}

/// The acts that a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// This one.
    One(i64),
    /// The newest.
    Last,
    /// Those of the last so many seconds.
    Since(i64),
    /// These, newest first.
    These(Vec<i64>),
}

impl UndoRequest {
    /// What is asked for.
    ///
    /// # Errors
    /// `invalid` when it is none or more than one of the four.
    pub fn which(&self) -> Result<Which, Failure> {
        match (self.id, self.last, self.since_seconds, self.ids.as_slice()) {
            (Some(id), false, None, []) => Ok(Which::One(id)),
            (None, true, None, []) => Ok(Which::Last),
            (None, false, Some(seconds), []) if seconds > 0 => Ok(Which::Since(seconds)),
            (None, false, Some(_), []) => Err(Failure::invalid("since_seconds", "must be above 0")),
            (None, false, None, [_, ..]) => {
                let newest_first: BTreeSet<_> = self.ids.iter().copied().map(Reverse).collect();
                Ok(Which::These(newest_first.into_iter().map(|Reverse(id)| id).collect()))
            }
            _ => Err(Failure::invalid(
                "id",
                "or last or since_seconds or ids is needed, one of them",
            )),
        }
    }
}

/// What was taken back, or would be, in that order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoReply {
    /// The acts.
    pub undone: Vec<Act>,
}

/// Which part of the history to show.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryRequest {
    /// Only acts that changed this memory.
    #[serde(default)]
    pub memory_id: Option<MemoryId>,
    /// Only acts older than this one: `next` of the page before.
    #[serde(default)]
    pub before: Option<i64>,
    /// Acts on the page, 1 to 1000; default 20.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// A page of acts, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryReply {
    /// The acts.
    pub acts: Vec<Act>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// One act.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// Its number.
    pub id: i64,
    /// What was done, for example `forget`.
    pub act: String,
    /// How many rows it changed.
    pub rows: usize,
    /// What the agent calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When, ISO 8601, UTC.
    pub at: String,
    /// When it was taken back, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<String>,
}
