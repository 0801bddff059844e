//! Speaking to the terminal: results on standard output, problems on standard error as `Error:`, `Caused by:`, `Hint:`.
//!
//! A closed pipe is no problem (`loci ctl logs | head`): it ends the command, quietly and well.

use crate::client::Unreachable;
use crate::client::admin::NotDone;
use loci_proto::error::{Exit, Failure};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Why a command was not done.
#[derive(Debug)]
pub struct Problem {
    what: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit: Exit,
}

impl Problem {
    /// A problem in one sentence, without a full stop.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), causes: Vec::new(), hint: None, exit: Exit::Failed }
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
        std::iter::once(&self.what).chain(&self.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    fn text(&self, style: Style) -> String {
        let mut text = format!("{} {}\n", style.paint("Error:"), self.what);
        for cause in &self.causes {
            let _ = writeln!(text, "{} {cause}", style.paint("Caused by:"));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "{} {hint}", style.paint("Hint:"));
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
        Self { exit: reason.exit(), ..Self::new(what.trim_end_matches('.')).hint(reason.next_step()) }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let hint = failure.hint.clone();
        Self { hint, ..Self::new(Failure { hint: None, ..failure }.to_string()) }
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

/// Tells a person what went wrong and returns the exit code for it.
#[must_use]
pub fn report(problem: &Problem) -> ExitCode {
    if problem.exit != Exit::Ok {
        let mut stderr = io::stderr();
        let style = Style::of(&stderr);
        // There is nobody else to tell.
        let _ = stderr.write_all(problem.text(style).as_bytes());
    }
    problem.exit.into()
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

/// Text of somebody else, safe to print: what could move the cursor or change colours becomes `?`.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
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

/// Rows in columns of equal width, each line indented by two blanks; numbers stand to the right. The first row is the head.
#[must_use]
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let numeric = |column: usize| rows.iter().skip(1).all(|row| !row[column].is_empty() && row[column].bytes().all(|b| b.is_ascii_digit()));
    let cell = |row: &[String; N], column: usize| {
        let (text, width) = (&row[column], width(column));
        if numeric(column) { format!("{text:>width$}") } else { format!("{text:<width$}") }
    };
    let line = |row: &[String; N]| format!("  {}", (0..N).map(|column| cell(row, column)).collect::<Vec<_>>().join("  "));
    let lines: Vec<String> = rows.iter().map(|row| line(row).trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_with_its_cause_and_the_next_step() {
        let problem = Problem::new("The log cannot be read").because(&"Permission denied").hint("Run `loci ctl status`");
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
    fn escapes_of_others_do_not_reach_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\n"), "a?[31mb?");
    }
}
