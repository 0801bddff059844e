//! Asks for confirmation: `y` for most commands; `loci reset` asks for the number of memories.
//!
//! Without a terminal the command fails, and the error names the flag `--yes`.

use crate::output::escape::escape_line;
use crate::output::problem::Problem;
use loci_proto::error::Exit;
use std::io::{self, BufRead, IsTerminal, Write};

/// Whether the user has already consented with `--yes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// `--yes` was given.
    Given,
    /// Ask at the terminal.
    Ask,
}

impl From<bool> for Consent {
    fn from(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Ask }
    }
}

/// Asks `question` with `[y/N]`.
///
/// # Errors
/// When the answer is not yes, or there is no terminal.
pub fn confirm(question: &str, consent: Consent) -> Result<(), Problem> {
    ask(question, "[y/N]", consent, |typed| ["y", "yes"].contains(&typed.to_lowercase().as_str()))
}

/// Like [`confirm`], but the user must type `expected`.
///
/// # Errors
/// When something else is typed, or there is no terminal.
pub fn confirm_typed(question: &str, expected: &str, consent: Consent) -> Result<(), Problem> {
    ask(question, &format!("Type {expected} to continue:"), consent, |typed| typed == expected)
}

/// Asks `question` until the answer means one of several choices; `None` at the end of the input.
///
/// # Errors
/// The terminal cannot be read.
pub fn choose<T>(question: &str, parse: impl Fn(&str) -> Option<T>) -> io::Result<Option<T>> {
    loop {
        write!(io::stderr(), "{question} ")?;
        let mut typed = String::new();
        if io::stdin().lock().read_line(&mut typed)? == 0 {
            return Ok(None);
        }
        if let Some(choice) = parse(typed.trim()) {
            return Ok(Some(choice));
        }
        let typed = escape_line(typed.trim());
        writeln!(io::stderr(), "{typed} is no answer. Type one of the letters in brackets.")?;
    }
}

fn ask(
    question: &str,
    choice: &str,
    consent: Consent,
    is_yes: impl Fn(&str) -> bool,
) -> Result<(), Problem> {
    if consent == Consent::Given {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        let no_terminal =
            Problem::new("This command needs a confirmation, but standard input is not a terminal")
                .hint("Nothing was changed. Add --yes to run it without asking");
        return Err(no_terminal.exit(Exit::Usage));
    }
    // Ask on standard error: standard output may be redirected.
    write!(io::stderr(), "{question} {choice} ")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if is_yes(typed.trim()) {
        Ok(())
    } else {
        Err(Problem::new("Cancelled; nothing was changed").exit(Exit::Failed))
    }
}
