//! Writes results to standard output, and notes and errors to standard error.

use crate::output::escape::escape_lines;
use crate::output::problem::Problem;
use crate::output::style::Style;
use loci_proto::error::Exit;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Sentences and tables for people.
    Text,
    /// One line of JSON for scripts.
    Json,
}

impl From<bool> for OutputFormat {
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Prints an error as text on standard error, with `--json` also as JSON on standard output, and returns its exit code.
#[must_use]
pub fn report(problem: &Problem, format: OutputFormat) -> ExitCode {
    if problem.exit_code() != Exit::Ok {
        let mut stderr = io::stderr();
        let style = Style::of(&stderr);
        // There is nowhere to report that standard error cannot be written.
        let _ = stderr.write_all(problem.text(style).as_bytes());
        if format == OutputFormat::Json {
            print_json_error(problem);
        }
    }
    problem.exit_code().into()
}

/// Prints an error on standard output as `{"error": …}`, and ignores write errors.
pub fn print_json_error(problem: &Problem) {
    let _ = print_line(problem.json());
}

/// Prints text and a line break on standard output, and flushes it.
///
/// # Errors
/// Write errors of standard output; a closed pipe becomes exit code 0.
pub fn print_line(line: impl AsRef<str>) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", line.as_ref())?;
    stdout.flush()?;
    Ok(())
}

/// Prints a labelled note on standard error.
pub fn print_note(label: &str, text: &str) {
    let mut stderr = io::stderr();
    let style = Style::of(&stderr);
    let _ = writeln!(stderr, "{} {}", style.bold(label), escape_lines(text));
}

/// Writes bytes to standard output and flushes it.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}
