//! Asks for confirmation: `y` for most commands, a word typed in full for those that cannot be undone.
//!
//! Without a terminal the command fails, and the error names the flag `--yes`.

use crate::output::problem::Problem;
use loci_proto::error::Exit;
use std::io::{self, BufRead, IsTerminal, Write};

/// Whether the command line has confirmed already.
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

/// Like [`confirm`], but `word` must be typed.
///
/// # Errors
/// When something else is typed, or there is no terminal.
pub fn confirm_typed(question: &str, word: &str, consent: Consent) -> Result<(), Problem> {
    ask(question, &format!("Type {word} to continue:"), consent, |typed| typed == word)
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
        let unasked =
            Problem::new("This command needs a confirmation, but standard input is not a terminal")
                .hint("Nothing was changed. Add --yes to run it without asking");
        return Err(unasked.exit(Exit::Usage));
    }
    // On standard error, so that the question is visible when standard output is redirected.
    write!(io::stderr(), "{question} {choice} ")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if is_yes(typed.trim()) {
        Ok(())
    } else {
        Err(Problem::new("Cancelled; nothing was changed").exit(Exit::Failed))
    }
}
