//! Bold text, colours and hyperlinks on terminals. Only the 16 colours that a person's terminal defines, and no backgrounds, so that both
//! light and dark terminals are readable.

use loci_proto::memory::MemoryType;
use std::io::IsTerminal;

/// Whether output may contain escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Bold text and colours are allowed: the output is a terminal.
    Coloured,
    /// Plain text only.
    Plain,
}

/// How a text looks on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Headings, and words that were searched.
    Bold,
    /// Ids and other details.
    Dim,
    /// Something good.
    Green,
    /// Something that needs attention.
    Yellow,
    /// Something bad.
    Red,
    /// The colour of a type.
    Type(MemoryType),
}

impl Ink {
    /// Returns the parameters of the escape sequence.
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Green | Self::Type(MemoryType::Semantic) => "32",
            Self::Yellow => "33",
            Self::Red => "31",
            Self::Type(MemoryType::Episodic) => "36",
            Self::Type(MemoryType::Procedural) => "35",
            // Bright blue: plain blue is too dark on black.
            Self::Type(MemoryType::Entity) => "94",
        }
    }
}

impl Style {
    /// Returns the style for a stream: colours on a terminal, unless `NO_COLOR` is set or the terminal has none.
    #[must_use]
    pub fn of(stream: &impl IsTerminal) -> Self {
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if allowed && !is_dumb && stream.is_terminal() { Self::Coloured } else { Self::Plain }
    }

    /// Returns the text in bold, if allowed.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint(Ink::Bold, text)
    }

    /// Returns the text as it should look, if allowed.
    #[must_use]
    pub fn paint(self, ink: Ink, text: &str) -> String {
        match self {
            Self::Coloured if !text.is_empty() => format!("\x1b[{}m{text}\x1b[0m", ink.code()),
            _ => text.to_owned(),
        }
    }
}

/// Returns whether standard output is a terminal that opens links.
#[must_use]
pub fn has_hyperlinks() -> bool {
    supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout)
}

/// Returns a text that opens `target` when it is clicked (OSC 8). The target must be free of control characters.
#[must_use]
pub fn hyperlink(target: &str, text: &str) -> String {
    if target.chars().any(char::is_control) {
        return text.to_owned();
    }
    format!("\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\")
}
