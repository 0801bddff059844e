//! Errors of commands: printed as `Error:`, `Caused by:`, `Hint:` on standard error, and with `--json` also as an object on standard
//! output. A closed pipe is not an error (`loci ctl logs | head`).

use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::output::escape::escape_lines;
use crate::output::style::Style;
use crate::speaker;
use loci_proto::error::{Code, Exit, Failure};
use serde_json::json;
use std::fmt::Write as _;
use std::io;

/// Why a command failed.
#[derive(Debug)]
pub struct Problem {
    code: &'static str,
    field: Option<String>,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit: Exit,
}

impl Problem {
    /// Creates an error from one sentence without a full stop.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            code: "failed",
            field: None,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
            exit: Exit::Failed,
        }
    }

    /// Adds a cause.
    #[must_use]
    pub fn because(mut self, cause: &impl ToString) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Sets the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the next step unless there is one.
    #[must_use]
    pub fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Returns the next step.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message and its causes in one line.
    #[must_use]
    pub fn message(&self) -> String {
        std::iter::once(&self.message)
            .chain(&self.causes)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> Exit {
        self.exit
    }

    /// Sets the exit code.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        if exit == Exit::Usage {
            self.code = "usage";
        }
        self
    }

    /// Creates an error about the command line.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(message).exit(Exit::Usage)
    }

    /// Returns the error as JSON: `{"error": {"code", "field", "message", "hint", "causes"}}`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        for (name, value) in [("field", self.field.as_ref()), ("hint", self.hint.as_ref())] {
            if let Some(value) = value {
                error[name] = json!(value);
            }
        }
        if !self.causes.is_empty() {
            error["causes"] = json!(self.causes);
        }
        json!({"error": error}).to_string()
    }

    /// Returns the error as text for a terminal.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let mut text = format!("{} {}\n", style.bold("Error:"), escape_lines(&self.message));
        for cause in &self.causes {
            let _ = writeln!(text, "{} {}", style.bold("Caused by:"), escape_lines(cause));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{} {}", style.bold("Hint:"), escape_lines(hint));
        }
        text
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { Exit::Ok } else { Exit::Failed };
        Self { exit, ..Self::new(error.to_string()) }
    }
}

impl From<Unreachable> for Problem {
    fn from(reason: Unreachable) -> Self {
        let message = reason.message();
        let exit = reason.exit_code();
        let code = match exit {
            Exit::Unreachable => "unreachable",
            Exit::VersionSkew => "version_skew",
            _ => "failed",
        };
        Self { code, exit, ..Self::new(message.trim_end_matches('.')).hint(reason.next_step()) }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let hint = failure.hint.clone();
        let (code, field) = (failure.code.as_str(), failure.field.clone());
        let hint = if failure.code == Code::NotFound && field.is_some() {
            hint.map(hint_for_people)
        } else {
            hint
        };
        let hint = match hint {
            Some(hint) if failure.only_person => {
                Some(format!("{hint}. {}", speaker::of_process().sentence()))
            }
            hint => hint,
        };
        Self { code, field, hint, ..Self::new(Failure { hint: None, ..failure }.to_string()) }
    }
}

/// Rewrites a hint for agents as a hint for people.
fn hint_for_people(hint: String) -> String {
    if hint.contains("recall_memory") {
        "`loci list` shows ids; --group selects another project".to_owned()
    } else {
        hint
    }
}

impl From<RequestError> for Problem {
    fn from(reason: RequestError) -> Self {
        match reason {
            RequestError::Unreachable(reason) => reason.into(),
            RequestError::Refused(failure) => failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_with_its_cause_and_hint() {
        let problem = Problem::new("The log cannot be read")
            .because(&"Permission denied")
            .hint("Run `loci ctl status`");
        assert_eq!(
            problem.text(Style::Plain),
            "Error: The log cannot be read\nCaused by: Permission denied\nHint: Run `loci ctl status`\n"
        );
    }

    #[test]
    fn a_closed_pipe_exits_with_0() {
        assert_eq!(Problem::from(io::Error::from(io::ErrorKind::BrokenPipe)).exit_code(), Exit::Ok);
        assert_eq!(Problem::from(Unreachable::Absent).exit_code(), Exit::Unreachable);
    }

    #[test]
    fn an_error_as_json_has_its_code_and_field() {
        let failure = Failure::invalid("limit", "must be above 0").hint("Try 1");
        assert_eq!(
            Problem::from(failure).json(),
            r#"{"error":{"code":"invalid","field":"limit","hint":"Try 1","message":"invalid: limit must be above 0"}}"#
        );
        assert!(Problem::from(Unreachable::Absent).json().contains(r#""code":"unreachable""#));
    }
}
