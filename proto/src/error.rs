//! Errors as users and models see them: a stable code, the argument at fault, one sentence, and the next step.
//!
//! As JSON: `{"code": "invalid", "field": "type", "message": "must be …", "hint": "…"}`. Not here: the presentation as an MCP result
//! (daemon) or on a terminal (shim).

use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of a failure; determines what the caller can do about it. The codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The named field is invalid: correct it.
    Invalid,
    /// The named field is larger than its limit.
    TooLarge,
    /// The named field has more elements than its limit.
    TooMany,
    /// The named field is nested deeper than its limit.
    TooDeep,
    /// No such memory is visible from this session.
    NotFound,
    /// The store has changed: read it again, then decide.
    Conflict,
    /// A queue is full or the deadline has passed: try again later.
    Busy,
    /// The model returned no usable vector; nothing was stored.
    EmbedFailed,
    /// The database could not be read or written.
    StorageFailed,
    /// A text holds a secret, and the configuration refuses secrets; nothing was stored.
    SecretDetected,
    /// loci is switched off here: neither reads nor writes.
    Off,
    /// The feature is planned for a later version.
    NotInThisVersion,
    /// A bug in loci.
    Internal,
}

impl Code {
    /// Returns the code as it appears in replies, for example `too_large`.
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
            Self::SecretDetected => "secret_detected",
            Self::Off => "off",
            Self::NotInThisVersion => "not_in_this_version",
            Self::Internal => "internal",
        }
    }
}

/// What a failed read or write of the database was caused by. Not part of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageFault {
    /// The disk is full.
    Full,
    /// The file or its file system is read-only.
    ReadOnly,
    /// The system could not read or write the file.
    Io,
    /// The content of the database is damaged.
    Damaged,
}

/// An error. `Display` writes `code: field message. hint`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Failure {
    /// Its kind.
    pub code: Code,
    /// The argument that caused it, as a path (`metadata.steps[2]`); absent if no single argument did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// One sentence without a full stop; with a field, the rest of a sentence that begins with the field.
    pub message: String,
    /// The next step, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A person may do it: the command line adds whom it took the caller for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_person: bool,
    /// The cause of a `storage_failed` inside the daemon; never sent.
    #[serde(skip)]
    pub fault: Option<StorageFault>,
}

impl Failure {
    /// Creates a failure that no single argument caused.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, field: None, message, hint: None, only_person: false, fault: None }
    }

    /// Creates a `conflict` of a caller that is no person with what only a person may do by this command.
    #[must_use]
    pub fn only_person(message: impl Into<String>, command: &str) -> Self {
        let hint = format!("A person can run it in a terminal outside the agent: {command}");
        Self { only_person: true, ..Self::new(Code::Conflict, message).hint(hint) }
    }

    /// Creates an `invalid` failure of the named argument; the message continues the sentence that its name begins.
    #[must_use]
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message).at(field)
    }

    /// Sets the argument that caused the failure.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Sets the cause of a `storage_failed`.
    #[must_use]
    pub fn caused_by(mut self, fault: StorageFault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Sets the next step.
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

/// Exit codes of `loci` and `locid`. Scripts and service managers rely on these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// `loci`: the command failed; the reason is on standard error.
    Failed = 1,
    /// `loci`: the command line is invalid; nothing was done.
    Usage = 2,
    /// `loci`: no daemon answers and none could be started.
    Unreachable = 3,
    /// `loci`: the running daemon supports no common protocol version.
    VersionSkew = 4,
    /// `locid`: the store could not be opened or written (`EX_SOFTWARE`).
    Storage = 70,
    /// `locid`: another daemon serves this database (`EX_TEMPFAIL`). Nothing is printed, because this is the normal result when two shims
    /// start a daemon at the same time.
    AlreadyRunning = 75,
    /// `locid`: the configuration is invalid, or a newer loci has written the database (`EX_CONFIG`).
    Config = 78,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
