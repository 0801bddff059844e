//! Speaking to the terminal: results on standard output, problems on standard error as `Error:`, `Caused by:`, `Hint:`.
//!
//! A closed pipe is no problem (`loci ctl logs | head`): it ends the command, quietly and well. What others have written is printed
//! escaped ([`plain`], [`lines`]), lists are [`table`]s, and a person is asked by [`confirm`]. With `--json` a command prints the daemon's
//! reply as it came, and a problem also as an object on standard output.

mod confirm;
mod escape;
pub(crate) mod progress;
mod table;

pub use confirm::{Answer, confirm, confirm_typed};
pub use escape::{lines, plain};
pub use table::{Screen, cut, table, table_on};

use crate::client::Unreachable;
use crate::client::admin::NotDone;
use loci_proto::error::{Code, Exit, Failure};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Why a command was not done.
#[derive(Debug)]
pub struct Problem {
    code: &'static str,
    field: Option<String>,
    what: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit: Exit,
}

impl Problem {
    /// A problem in one sentence, without a full stop.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            code: "failed",
            field: None,
            what: what.into(),
            causes: Vec::new(),
            hint: None,
            exit: Exit::Failed,
        }
    }

    /// The same problem with what lies behind it.
    #[must_use]
    pub fn because(mut self, cause: &impl ToString) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// The same problem with the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What went wrong, with what lies behind it, in one line.
    #[must_use]
    pub fn what(&self) -> String {
        std::iter::once(&self.what)
            .chain(&self.causes)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// The same problem with another exit code.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        if exit == Exit::Usage {
            self.code = "usage";
        }
        self
    }

    /// A command line that cannot be done as it stands.
    #[must_use]
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(what).exit(Exit::Usage)
    }

    /// The problem for a script: `{"error": {"code", "field", "message", "hint"}}`.
    fn json(&self) -> String {
        let mut error = json!({"code": self.code, "message": self.what});
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

    fn text(&self, style: Style) -> String {
        let mut text = format!("{} {}\n", style.paint("Error:"), lines(&self.what));
        for cause in &self.causes {
            let _ = writeln!(text, "{} {}", style.paint("Caused by:"), lines(cause));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{} {}", style.paint("Hint:"), lines(hint));
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
        let what = reason.what();
        let exit = reason.exit();
        let code = match exit {
            Exit::Unreachable => "unreachable",
            Exit::VersionSkew => "version_skew",
            _ => "failed",
        };
        Self { code, exit, ..Self::new(what.trim_end_matches('.')).hint(reason.next_step()) }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let hint = failure.hint.clone();
        let (code, field) = (failure.code.as_str(), failure.field.clone());
        let hint = if failure.code == Code::NotFound && field.is_some() {
            hint.map(for_people)
        } else {
            hint
        };
        Self { code, field, hint, ..Self::new(Failure { hint: None, ..failure }.to_string()) }
    }
}

/// What an agent is told to do, as a person does it.
fn for_people(hint: String) -> String {
    if hint.contains("recall_memory") {
        "`loci list` shows ids; --group names another project".to_owned()
    } else {
        hint
    }
}

impl From<NotDone> for Problem {
    fn from(reason: NotDone) -> Self {
        match reason {
            NotDone::Unreachable(reason) => reason.into(),
            NotDone::Refused(failure) => failure.into(),
        }
    }
}

/// For whom a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Sentences and tables.
    Person,
    /// JSON.
    Script,
}

impl From<bool> for Reader {
    fn from(json: bool) -> Self {
        if json { Self::Script } else { Self::Person }
    }
}

/// Tells what went wrong and returns the exit code for it: always in words on standard error, for a script also as JSON on standard
/// output.
#[must_use]
pub fn report(problem: &Problem, reader: Reader) -> ExitCode {
    if problem.exit != Exit::Ok {
        let mut stderr = io::stderr();
        let style = Style::of(&stderr);
        // There is nobody else to tell.
        let _ = stderr.write_all(problem.text(style).as_bytes());
        if reader == Reader::Script {
            tell_script(problem);
        }
    }
    problem.exit.into()
}

/// Prints a problem on standard output as `{"error": …}`; there is nobody to tell where that fails.
pub fn tell_script(problem: &Problem) {
    let _ = say(problem.json());
}

/// Prints a line on standard output, at once.
///
/// # Errors
/// Those of standard output; a closed pipe becomes a quiet end.
pub fn say(line: impl AsRef<str>) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", line.as_ref())?;
    stdout.flush()?;
    Ok(())
}

/// Tells what a person should know beside the result, on standard error.
pub fn note(label: &str, text: &str) {
    let mut stderr = io::stderr();
    let style = Style::of(&stderr);
    let _ = writeln!(stderr, "{} {}", style.paint(label), lines(text));
}

/// Whether what is printed may be painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For a person at a terminal.
    Painted,
    /// For everything else.
    Plain,
}

impl Style {
    /// Painted on a terminal, unless `NO_COLOR` is set.
    #[must_use]
    pub fn of(stream: &impl IsTerminal) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && stream.is_terminal() { Self::Painted } else { Self::Plain }
    }

    /// The text in bold, where that is possible.
    #[must_use]
    pub fn paint(self, text: &str) -> String {
        match self {
            Self::Painted => format!("\x1b[1m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_with_its_cause_and_the_next_step() {
        let problem = Problem::new("The log cannot be read")
            .because(&"Permission denied")
            .hint("Run `loci ctl status`");
        assert_eq!(
            problem.text(Style::Plain),
            "Error: The log cannot be read\nCaused by: Permission denied\nHint: Run `loci ctl status`\n"
        );
    }

    #[test]
    fn a_closed_pipe_is_a_quiet_end() {
        assert_eq!(Problem::from(io::Error::from(io::ErrorKind::BrokenPipe)).exit, Exit::Ok);
        assert_eq!(Problem::from(Unreachable::Absent).exit, Exit::Unreachable);
    }

    #[test]
    fn a_problem_for_a_script_has_its_code_and_field() {
        let failure = Failure::invalid("limit", "must be above 0").hint("Try 1");
        assert_eq!(
            Problem::from(failure).json(),
            r#"{"error":{"code":"invalid","field":"limit","hint":"Try 1","message":"invalid: limit must be above 0"}}"#
        );
        assert!(Problem::from(Unreachable::Absent).json().contains(r#""code":"unreachable""#));
    }
}
