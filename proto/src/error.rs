//! What can go wrong, in the words that a person or a model reads: a stable code, one sentence, the field, the next step.
//!
//! Not here: how an error looks as an MCP result or on a terminal; the doors (`daemon::mcp`, `shim::output`) do that.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the caller can do about a failure; stable, part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request cannot be served as it stands: mend the named field.
    Invalid,
    /// The named field is larger than its bound.
    TooLarge,
    /// The named field has more members than its bound.
    TooMany,
    /// The named field is nested deeper than its bound.
    TooDeep,
    /// No such memory is visible from this session.
    NotFound,
    /// The store has moved on: look again, then decide.
    Conflict,
    /// A queue is full or the deadline passed: try again later.
    Busy,
    /// The model gave no usable vector; nothing was stored.
    EmbedFailed,
    /// The database could not be read or written.
    StorageFailed,
    /// Documented for a later version.
    NotInThisVersion,
    /// A fault of loci itself.
    Internal,
}

impl Code {
    /// The code as it is written in answers, for example `too_large`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::TooLarge => "too_large",
            Self::TooMany => "too_many",
            Self::TooDeep => "too_deep",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::EmbedFailed => "embed_failed",
            Self::StorageFailed => "storage_failed",
            Self::NotInThisVersion => "not_in_this_version",
            Self::Internal => "internal",
        }
    }
}

/// A refusal or a fault, ready to be shown: `code: message. hint`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Failure {
    /// What the caller can do about it.
    pub code: Code,
    /// The argument that is at fault, as a path (`metadata.steps[2]`), where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// One sentence without a full stop.
    pub message: String,
    /// The next step, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    /// A failure that no single argument caused.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, field: None, message: message.into(), hint: None }
    }

    /// The named argument cannot be used; the message begins with the field's name.
    #[must_use]
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message).at(field)
    }

    /// The same failure, caused by the named argument.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The same failure with a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code.as_str())?;
        match &self.field {
            Some(field) => write!(f, "{field} {}", self.message)?,
            None => f.write_str(&self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, ". {hint}"),
            None => Ok(()),
        }
    }
}

/// How `loci` and `locid` end. Scripts and service managers rely on these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// `loci`: the command failed; standard error says why.
    Failed = 1,
    /// `loci`: the command line was wrong; nothing was done.
    Usage = 2,
    /// `loci`: no daemon answers, and none could be started.
    Unreachable = 3,
    /// `loci`: the running daemon speaks another protocol version.
    VersionSkew = 4,
    /// `locid`: the store could not be opened or written (`EX_SOFTWARE`).
    Storage = 70,
    /// `locid`: another daemon serves this database; said by silence, since it is the usual end of a race (`EX_TEMPFAIL`).
    AlreadyRunning = 75,
    /// `locid`: the configuration is wrong, or the database was written by a newer loci (`EX_CONFIG`).
    Config = 78,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
