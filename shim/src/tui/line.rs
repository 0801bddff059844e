//! A line with coloured parts, for full-screen commands and, where they print one frame, for a pipe.

use crate::output::{Ink, MarkedText, Screen};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Width of the names before values.
const LABEL_WIDTH: usize = 10;

/// A line and its coloured parts.
#[derive(Debug, Clone)]
pub struct InkLine {
    /// The text.
    pub text: String,
    /// The parts, in order.
    pub marks: Vec<(Range<usize>, Ink)>,
}

impl InkLine {
    /// Returns a line without colours.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), marks: Vec::new() }
    }

    /// Returns a line of one colour.
    #[must_use]
    pub fn inked(text: impl Into<String>, ink: Ink) -> Self {
        let text = text.into();
        let all = 0..text.len();
        Self { text, marks: vec![(all, ink)] }
    }

    /// Returns a name and its value.
    #[must_use]
    pub fn labelled(name: &str, value: &str) -> Self {
        let marks = vec![(0..name.len(), Ink::Dim)];
        Self { text: format!("{name:<LABEL_WIDTH$}{value}"), marks }
    }

    /// Cuts the line to a width.
    pub fn cut(&mut self, width: usize) {
        if self.text.width() <= width {
            return;
        }
        let mut end = 0;
        for (at, grapheme) in self.text.grapheme_indices(true) {
            if self.text[..at + grapheme.len()].width() > width {
                break;
            }
            end = at + grapheme.len();
        }
        self.text.truncate(end);
        for (range, _) in &mut self.marks {
            *range = range.start.min(end)..range.end.min(end);
        }
    }

    /// Returns the line for standard output.
    #[must_use]
    pub fn painted(&self, screen: Screen) -> String {
        let mut text = MarkedText::new(self.text.clone());
        self.marks.iter().for_each(|(range, ink)| text.mark(range.clone(), *ink));
        text.lines(self.text.width().max(1), screen).join("")
    }
}

/// Returns the parts of a line with their styles.
#[must_use]
pub fn spans_of(line: &InkLine, theme: Theme) -> Vec<Span<'static>> {
    let (mut spans, mut at) = (Vec::new(), 0);
    for (range, ink) in &line.marks {
        if range.start > at {
            spans.push(Span::raw(line.text[at..range.start].to_owned()));
        }
        let start = range.start.max(at);
        if range.end > start {
            spans.push(Span::styled(line.text[start..range.end].to_owned(), theme.style(*ink)));
            at = range.end;
        }
    }
    spans.push(Span::raw(line.text[at..].to_owned()));
    spans
}

/// Returns the line for the terminal.
#[must_use]
pub fn to_screen(line: &InkLine, theme: Theme) -> Line<'static> {
    Line::from(spans_of(line, theme))
}
