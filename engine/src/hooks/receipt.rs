//! What is recorded about one event of a hook: ids, sizes and reasons, never a text. Pure.

use crate::duplicate::content_hash::HASH_BYTES;
use crate::model::time::Timestamp;

/// The hash of a memory's text: a session that has been given it has not been given what the memory says after an edit.
pub type TextVersion = [u8; HASH_BYTES];

/// Why a memory that was found is not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withheld {
    /// It is unlikely to be an answer.
    Weak,
    /// Others are likelier answers, or the likeliest is in the conversation already.
    LessRelevant,
    /// The session has it already.
    Delivered,
    /// It does not fit the token budget.
    Budget,
    /// It is imported or flagged.
    Untrusted,
    /// A client's file stated it, and no longer does.
    LeftFile,
    /// A person said that it is never given unasked.
    Never,
    /// It belongs to another project, which the prompt does not name.
    OtherProject,
    /// The client loads it from its own memory file.
    InOwnFile,
}

impl Withheld {
    /// Returns the reason as receipts show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::LessRelevant => "less relevant",
            Self::Delivered => "already delivered",
            Self::Budget => "budget",
            Self::Untrusted => "untrusted",
            Self::LeftFile => "no longer in its file",
            Self::Never => "never unasked",
            Self::OtherProject => "of another project",
            Self::InOwnFile => "in the client's own memory",
        }
    }
}

/// What happened at one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A text was delivered.
    Delivered,
    /// Nothing was delivered.
    Silent,
    /// The record of the session was reset: what it had been given is no longer in the conversation.
    Reset,
    /// A memory was stored.
    Stored,
    /// The agent was reminded to store.
    Reminded,
    /// The session ended.
    Closed,
    /// The daemon was not reached in time.
    Missed,
}

impl Outcome {
    /// Returns the outcome as receipts show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Silent => "silent",
            Self::Reset => "reset",
            Self::Stored => "stored",
            Self::Reminded => "reminded",
            Self::Closed => "closed",
            Self::Missed => "missed",
        }
    }
}

/// One event, as it is written to the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookReceipt {
    /// The client's own id of the session; empty if it gave none.
    pub session: String,
    /// The client.
    pub client: &'static str,
    /// The event.
    pub event: &'static str,
    /// When.
    pub at: Timestamp,
    /// Id of the project, if it is known.
    pub group: Option<String>,
    /// What happened.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// Size of the text in tokens.
    pub tokens: usize,
    /// The text held the brief.
    pub brief: bool,
    /// Row numbers of the delivered memories, and which text of each was given: it may be edited before this is written.
    pub delivered: Vec<(i64, TextVersion)>,
    /// Row numbers of the withheld memories.
    pub withheld: Vec<(i64, Withheld)>,
}
