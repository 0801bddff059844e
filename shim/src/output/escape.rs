//! Text of somebody else, made safe to print: what could move the cursor, change colours or turn the reading direction is shown instead.
//!
//! Not here: `--json`, which prints what was answered, exactly.

use std::borrow::Cow;

/// One line: a line break is shown too.
#[must_use]
pub fn plain(text: &str) -> String {
    shown(text, |c| !hides(c)).into_owned()
}

/// Several lines: line breaks and tabs stay.
#[must_use]
pub fn lines(text: &str) -> String {
    shown(text, |c| c == '\n' || c == '\t' || !hides(c)).into_owned()
}

fn shown(text: &str, harmless: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&harmless) {
        return Cow::Borrowed(text);
    }
    let piece = |c: char| if harmless(c) { c.to_string() } else { c.escape_default().to_string() };
    text.chars().map(piece).collect::<String>().into()
}

/// True for what a terminal obeys or hides instead of showing it.
fn hides(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(plain("a\x1b[31mb\u{9b}c\nd\te"), "a\\u{1b}[31mb\\u{9b}c\\nd\\te");
        assert_eq!(
            plain("user\u{202e}txt.exe \u{2066}\u{e0041}"),
            "user\\u{202e}txt.exe \\u{2066}\\u{e0041}"
        );
        assert_eq!(lines("one\n\ttwo\x07"), "one\n\ttwo\\u{7}");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["Zażółć gęślą jaźń", "日本語", "👩‍👧 e\u{301}", "שלום", "back\\slash"]
        {
            assert_eq!(plain(text), text);
        }
    }
}
