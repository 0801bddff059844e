//! Sessions of another program as `locid sessions` prints them for `loci import --from history`: one [`SessionLine`] a line.
//!
//! After a failure the last line is an [`crate::error::Failure`]. Not here: what a part means (shim), and SQL (engine).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionLine {
    /// A session begins; the following lines are of it.
    Session {
        /// The program's id of the session.
        id: String,
        /// The folder that it began in.
        folder: String,
    },
    /// A part of a message: a text, or the call of a tool with what it returned.
    Part {
        /// The message.
        #[serde(flatten)]
        message: MessageOfSession,
        /// The part, as the program has stored it.
        part: Value,
    },
    /// A message or part that cannot be read, or is too long.
    Skipped,
}

/// A message, without its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageOfSession {
    /// The program's id of the message.
    pub message: String,
    /// Its number within the session, from 1.
    pub number: usize,
    /// Milliseconds since 1970.
    pub at: i64,
    /// Who wrote it: `user` or `assistant`.
    pub role: String,
    /// It is the program's summary of a conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_summary: bool,
}
