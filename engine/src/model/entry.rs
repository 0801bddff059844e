//! The part of a memory that the index reads: its attributes, names and text.
//!
//! Not here: reading it from the database (`db::memories`), storing it in the index (`index`).

use crate::model::decay::Anchor;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Audience;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::num::NonZeroU64;

/// The part of a memory that the index reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) seq: i64,
    pub(crate) kind: MemoryType,
    pub(crate) group: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) status: Status,
    pub(crate) anchor: Anchor,
    pub(crate) expires_at: Option<Timestamp>,
    /// Names and aliases of an entity, as returned by [`crate::model::names::of`]; empty for other
    /// types.
    pub(crate) names: Vec<String>,
    /// The text; the index tokenizes it and does not keep it.
    pub(crate) content: String,
    /// The questions that it answers, one a line; the index does not keep them either.
    pub(crate) questions: String,
    /// The day of `event_date`, in days since 0001-01-01 (day 1).
    pub(crate) event_day: Option<i32>,
    /// The day when it was stored, in days since 0001-01-01 (day 1).
    pub(crate) created_day: i32,
    /// The sequence number of the summary that replaced it in recall.
    pub(crate) summary: Option<i64>,
    /// True for a summary made of sentences of other memories.
    pub(crate) extractive: bool,
    /// The branch on which it was stored.
    pub(crate) branch: Option<String>,
    /// The hash of the key of the error that it mends.
    pub(crate) error: Option<NonZeroU64>,
}

impl Entry {
    /// Returns who can see the memory.
    pub(crate) fn audience(&self) -> Audience<'_> {
        Audience::new(self.scope, self.group.as_deref())
    }

    /// Returns an active episodic memory without text and with default values.
    pub(crate) fn bare(seq: i64) -> Self {
        Self {
            seq,
            kind: MemoryType::Episodic,
            group: None,
            scope: Scope::Group,
            status: Status::Active,
            anchor: Anchor::new(Confidence::FULL, Timestamp(0)),
            expires_at: None,
            names: Vec::new(),
            content: String::new(),
            questions: String::new(),
            event_day: None,
            created_day: 0,
            summary: None,
            extractive: false,
            branch: None,
            error: None,
        }
    }
}
