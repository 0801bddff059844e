//! The colours of full-screen commands: the 16 of the terminal, no backgrounds; without colours where `NO_COLOR` is set.

use crate::output::Ink;
use loci_proto::memory::MemoryType;
use ratatui::style::{Color, Modifier, Style};

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    colours: bool,
}

impl Theme {
    /// Returns the theme of this terminal.
    #[must_use]
    pub fn of_terminal() -> Self {
        let colours =
            crate::output::Style::of(&std::io::stdout()) == crate::output::Style::Coloured;
        Self { colours }
    }

    /// Returns the style of an ink.
    #[must_use]
    pub fn style(self, ink: Ink) -> Style {
        let coloured = |colour| if self.colours { Style::new().fg(colour) } else { Style::new() };
        match ink {
            Ink::Bold => Style::new().add_modifier(Modifier::BOLD),
            Ink::Dim if self.colours => Style::new().add_modifier(Modifier::DIM),
            Ink::Dim => Style::new(),
            Ink::Green | Ink::Type(MemoryType::Semantic) => coloured(Color::Green),
            Ink::Yellow => coloured(Color::Yellow),
            Ink::Red => coloured(Color::Red),
            Ink::Type(MemoryType::Episodic) => coloured(Color::Cyan),
            Ink::Type(MemoryType::Procedural) => coloured(Color::Magenta),
            Ink::Type(MemoryType::Entity) => coloured(Color::LightBlue),
        }
    }

    /// Returns the style of the selected row.
    #[must_use]
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
