//! Bold text on terminals.

use std::io::IsTerminal;

/// Whether output may contain escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Bold text is allowed: the output is a terminal.
    Bold,
    /// Plain text only.
    Plain,
}

impl Style {
    /// Returns the style for a stream: bold on a terminal, unless `NO_COLOR` is set.
    #[must_use]
    pub fn of(stream: &impl IsTerminal) -> Self {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if allowed && stream.is_terminal() { Self::Bold } else { Self::Plain }
    }

    /// Returns the text in bold, if allowed.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        match self {
            Self::Bold => format!("\x1b[1m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}
