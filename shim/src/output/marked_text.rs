//! A text with marked parts: wrapped first, painted afterwards, so that escape sequences do not count as width. Addresses of web pages are
//! links where the terminal opens them, also if a line break divides them.

use crate::output::style::{Ink, hyperlink};
use crate::output::table::Screen;
use crate::output::wrap::wrap;
use std::ops::Range;

/// Characters that end an address, besides white space.
const ADDRESS_ENDS: [char; 6] = ['<', '>', '"', '\'', '`', '|'];
/// Characters that belong to the sentence if an address ends with them.
const SENTENCE_ENDS: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '}'];

/// How a part looks.
#[derive(Debug, Clone)]
enum Mark {
    Ink(Ink),
    Link(String),
}

/// A text and its marked parts.
#[derive(Debug, Clone)]
pub struct MarkedText {
    text: String,
    marks: Vec<(Range<usize>, Mark)>,
}

impl MarkedText {
    /// Starts with the links of a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        let marks = addresses(&text)
            .into_iter()
            .map(|range| (range.clone(), Mark::Link(text[range].to_owned())))
            .collect();
        Self { text, marks }
    }

    /// Marks a part, unless it touches one that is marked.
    pub fn mark(&mut self, range: Range<usize>, ink: Ink) {
        let is_free = |other: &Range<usize>| other.end <= range.start || range.end <= other.start;
        if !range.is_empty() && self.marks.iter().all(|(other, _)| is_free(other)) {
            self.marks.push((range, Mark::Ink(ink)));
        }
    }

    /// Makes a part a link.
    pub fn link(&mut self, range: Range<usize>, target: String) {
        self.marks.push((range, Mark::Link(target)));
    }

    /// Returns the painted lines.
    #[must_use]
    pub fn lines(mut self, width: usize, screen: Screen) -> Vec<String> {
        self.marks.sort_by_key(|(range, _)| range.start);
        wrap(&self.text, width).into_iter().map(|line| self.painted(line, screen)).collect()
    }

    fn painted(&self, line: Range<usize>, screen: Screen) -> String {
        let (mut painted, mut at) = (String::new(), line.start);
        for (range, mark) in &self.marks {
            let (start, end) = (range.start.max(at), range.end.min(line.end));
            if start >= end {
                continue;
            }
            painted.push_str(&self.text[at..start]);
            let part = &self.text[start..end];
            painted.push_str(&match mark {
                Mark::Ink(ink) => screen.style.paint(*ink, part),
                Mark::Link(target) if screen.links => hyperlink(target, part),
                Mark::Link(_) => part.to_owned(),
            });
            at = end;
        }
        painted + &self.text[at..line.end.max(at)]
    }
}

/// Returns the byte ranges of addresses of web pages.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for scheme in ["https://", "http://"] {
        for (at, _) in text.match_indices(scheme) {
            let rest = &text[at..];
            let is_end = |c: char| c.is_whitespace() || ADDRESS_ENDS.contains(&c) || !c.is_ascii();
            let end = rest.find(is_end).unwrap_or(rest.len());
            let address = rest[..end].trim_end_matches(SENTENCE_ENDS);
            if address.len() > scheme.len() {
                found.push(at..at + address.len());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::Style;

    #[test]
    fn an_address_is_a_link_on_both_lines_where_links_work() {
        let text = "See https://example.org/a/long/path, then go";
        let screen = Screen { links: true, ..Screen::plain(20) };
        let lines = MarkedText::new(text.to_owned()).lines(20, screen);
        let start = "\u{1b}]8;;https://example.org/a/long/path\u{1b}\\";
        assert!(lines.iter().filter(|line| line.contains(start)).count() >= 2, "{lines:?}");
        assert!(
            lines.iter().all(|line| !line.ends_with(',') || line.ends_with("\u{1b}\\,")),
            "{lines:?}"
        );
        let plain = MarkedText::new(text.to_owned()).lines(20, Screen::plain(20));
        assert!(plain.iter().all(|line| !line.contains('\u{1b}')));
    }

    #[test]
    fn parts_are_painted_after_wrapping() {
        let mut text = MarkedText::new("one two three".to_owned());
        text.mark(4..7, Ink::Bold);
        text.mark(5..6, Ink::Dim);
        let screen = Screen { style: Style::Coloured, ..Screen::plain(80) };
        assert_eq!(text.lines(80, screen), ["one \u{1b}[1mtwo\u{1b}[0m three"]);
    }
}
