//! Escapes text for a terminal: characters that move the cursor, change colours or reverse the text direction are printed as escapes.
//!
//! Not here: `--json` output, which is printed unchanged.

use std::borrow::Cow;

/// Escapes one line, including line breaks.
#[must_use]
pub fn escape_line(text: &str) -> String {
    escape_unless(text, |c| !is_hidden(c)).into_owned()
}

/// Escapes several lines; keeps line breaks and tabs.
#[must_use]
pub fn escape_lines(text: &str) -> String {
    escape_unless(text, |c| c == '\n' || c == '\t' || !is_hidden(c)).into_owned()
}

fn escape_unless(text: &str, is_safe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&is_safe) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if is_safe(c) { c.to_string() } else { c.escape_default().to_string() };
    text.chars().map(escaped).collect::<String>().into()
}

/// Returns true for characters that a terminal interprets or hides instead of showing.
fn is_hidden(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        assert_eq!(escape_line("a\x1b[31mb\u{9b}c\nd\te"), "a\\u{1b}[31mb\\u{9b}c\\nd\\te");
        assert_eq!(
            escape_line("user\u{202e}txt.exe \u{2066}\u{e0041}"),
            "user\\u{202e}txt.exe \\u{2066}\\u{e0041}"
        );
        assert_eq!(escape_lines("one\n\ttwo\x07"), "one\n\ttwo\\u{7}");
    }

    #[test]
    fn ordinary_text_stays_unchanged() {
        for text in ["Zażółć gęślą jaźń", "日本語", "👩‍👧 e\u{301}", "שלום", "back\\slash"]
        {
            assert_eq!(escape_line(text), text);
        }
    }
}
