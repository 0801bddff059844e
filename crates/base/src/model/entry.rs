//! The part of a memory that the index reads: its attributes, names and text.
//!
//! Not here: reading it from the database (`db::memories`), storing it in the index (`index`).

use crate::model::decay::Anchor;
use crate::model::names::EntityNames;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Audience;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::num::NonZeroU64;

/// The part of a memory that the index reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The sequence number: the rowid, in order of storing.
    pub seq: i64,
    /// Its kind.
    pub kind: MemoryType,
    /// The project that stored it; `None` for no project.
    pub group: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// Whether it is in use.
    pub status: Status,
    /// What its confidence ages from.
    pub anchor: Anchor,
    /// When it is no longer found.
    pub expires_at: Option<Timestamp>,
    /// Names of an entity; empty for other types.
    pub names: EntityNames,
    /// The text; the index tokenizes it and does not keep it.
    pub content: String,
    /// The questions that it answers, one a line; the index does not keep them either.
    pub questions: String,
    /// The day of `event_date`, in days since 0001-01-01 (day 1).
    pub event_day: Option<i32>,
    /// The day when it was stored, in days since 0001-01-01 (day 1).
    pub created_day: i32,
    /// The sequence number of the summary that replaced it in recall.
    pub summary: Option<i64>,
    /// True for a summary made of sentences of other memories.
    pub extractive: bool,
    /// The branch on which it was stored.
    pub branch: Option<String>,
    /// The hash of the key of the error that it mends.
    pub error: Option<NonZeroU64>,
}

impl Entry {
    /// Returns who can see the memory.
    pub fn audience(&self) -> Audience<'_> {
        Audience::new(self.scope, self.group.as_deref())
    }

    /// Returns an active episodic memory without text and with default values.
    pub fn bare(seq: i64) -> Self {
        Self {
            seq,
            kind: MemoryType::Episodic,
            group: None,
            scope: Scope::Group,
            status: Status::Active,
            anchor: Anchor::new(Confidence::FULL, Timestamp(0)),
            expires_at: None,
            names: EntityNames::default(),
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
