//! How a text is laid out: its line endings and its indentation. New lines follow what the text has.

/// The layout of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The line ending.
    pub newline: &'static str,
    /// One step of indentation.
    pub unit: String,
    /// Whether colons and commas are followed by a space on lines with several values.
    pub spaced: bool,
}

impl Layout {
    /// Finds the layout of a text; an empty text has line feeds and two spaces.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let indents = text.lines().map(indent).filter(|indent| !indent.is_empty());
        let unit = indents.min_by_key(|indent| indent.len()).unwrap_or("  ");
        let unit = if unit.starts_with('\t') { "\t" } else { unit };
        let spaced = !text.contains("\":") || text.contains("\": ");
        Self { newline, unit: unit.to_owned(), spaced }
    }
}

/// Returns the blanks at the start of a line; none for a line of blanks, and none for the middle of a comment.
fn indent(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    if rest.is_empty() || rest.starts_with('*') { "" } else { &line[..line.len() - rest.len()] }
}

/// Returns the blanks at the start of the line that contains a position.
#[must_use]
pub fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns whether only blanks precede a position on its line.
#[must_use]
pub fn is_first_on_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_first_lines() {
        let layout = Layout::of("{\r\n\t\"a\": {\r\n\t\t\"b\":1 } }");
        assert_eq!((layout.newline, layout.unit.as_str(), layout.spaced), ("\r\n", "\t", true));
        let layout = Layout::of("{\"a\":1}");
        assert_eq!((layout.newline, layout.unit.as_str(), layout.spaced), ("\n", "  ", false));
        assert_eq!(Layout::of("{\n    \"a\": [\n        1\n    ]\n}").unit, "    ");
    }

    #[test]
    fn the_indentation_of_a_line_is_found_from_any_place_in_it() {
        let text = "{\n    \"a\": { \"b\": 1 }\n}";
        let at = text.find("\"b\"").expect("the text has it");
        assert_eq!(line_indent(text, at), "    ");
        assert!(!is_first_on_line(text, at));
        assert!(is_first_on_line(text, text.find("\"a\"").expect("the text has it")));
    }
}
