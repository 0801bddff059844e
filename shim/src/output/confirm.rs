//! Asking a person before something that they may not want: `y` for most things, a word typed in full for the worst.
//!
//! Where there is nobody to ask, the answer is no, and the problem names the flag that says yes.

use crate::output::Problem;
use loci_proto::error::Exit;
use std::io::{self, BufRead, IsTerminal, Write};

/// Whether the command line has said yes already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// `--yes` was given.
    Yes,
    /// A person has to be asked.
    Ask,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::Ask }
    }
}

/// Asks `question` (without its question mark's `[y/N]`), and goes on after a yes.
///
/// # Errors
/// When the answer is no, or nobody can be asked.
pub fn confirm(question: &str, given: Answer) -> Result<(), Problem> {
    agreed(question, "[y/N]", given, |typed| ["y", "yes"].contains(&typed.to_lowercase().as_str()))
}

/// The same, but the person has to type `word`.
///
/// # Errors
/// When something else is typed, or nobody can be asked.
pub fn confirm_typed(question: &str, word: &str, given: Answer) -> Result<(), Problem> {
    agreed(question, &format!("Type {word} to go on:"), given, |typed| typed == word)
}

fn agreed(
    question: &str,
    choice: &str,
    given: Answer,
    is_yes: impl Fn(&str) -> bool,
) -> Result<(), Problem> {
    if given == Answer::Yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        let nobody = Problem::new("This needs a yes, and there is no terminal to ask at")
            .hint("Add --yes to go on without a question; nothing was done");
        return Err(nobody.exit(Exit::Usage));
    }
    // On standard error, so that it is seen even where the output goes elsewhere.
    write!(io::stderr(), "{question} {choice} ")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    if is_yes(typed.trim()) {
        Ok(())
    } else {
        Err(Problem::new("Nothing was done").exit(Exit::Failed))
    }
}
