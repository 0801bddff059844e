//! Wraps text at words. Widths are display columns; a break is where the Unicode line breaking algorithm (UAX 14) allows one, so that
//! scripts without spaces are wrapped too. A word that is wider than a line is broken between graphemes.

use std::ops::Range;
use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Characters of an id of a memory or a session.
const ID_CHARS: usize = 36;

/// Returns whether a place is inside an id, which nobody could copy from two lines.
fn is_in_id(text: &str, at: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    let bytes = text.as_bytes();
    let before = bytes[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let after = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    before > 0 && after > 0 && before + after == ID_CHARS
}

/// Returns the byte ranges of the lines of `text`, each at most `width` columns wide, without the spaces at their ends.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, opportunity) in linebreaks(text) {
        if opportunity == BreakOpportunity::Allowed && width >= ID_CHARS && is_in_id(text, at) {
            continue;
        }
        let piece = text[end..at].trim_end_matches(['\n', '\r']);
        let piece_end = end + piece.len();
        if text[start..piece_end].trim_end().width() > width && end > start {
            lines.push(trimmed(text, start..end));
            start = end;
        }
        while text[start..piece_end].trim_end().width() > width {
            let cut = start + fitting(&text[start..piece_end], width);
            lines.push(start..cut);
            start = cut;
        }
        end = at;
        if opportunity == BreakOpportunity::Mandatory {
            lines.push(trimmed(text, start..piece_end));
            start = at;
        }
    }
    // The end of a text is a mandatory break; a final line break would make an empty line.
    if text.ends_with('\n') && lines.last().is_some_and(Range::is_empty) {
        lines.pop();
    }
    lines
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range].trim_end().len()
}

/// Returns the bytes of the longest beginning that fits `width`; at least one grapheme.
fn fitting(text: &str, width: usize) -> usize {
    let mut end = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let next = at + grapheme.len();
        if at > 0 && text[..next].width() > width {
            break;
        }
        end = next;
    }
    end
}

/// Replaces every run of white space by one space.
#[must_use]
pub fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<&str> {
        wrap(text, width).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn lines_break_at_words_and_long_words_between_graphemes() {
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("one two three", 80), ["one two three"]);
        assert_eq!(lines("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(lines("a\n\nb\n", 4), ["a", "", "b"]);
        assert_eq!(lines("", 4), [""; 0]);
        let id = "01953a2b-7c1e-7000-8000-0123456789ab";
        assert_eq!(lines(&format!("superseded by {id}"), 40), ["superseded by", id]);
        assert_eq!(lines("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
    }

    #[test]
    fn wide_characters_count_twice_and_break_anywhere() {
        assert_eq!(lines("日本語のメモ", 6), ["日本語", "のメモ"]);
        assert_eq!(lines("👩‍👧👩‍👧👩‍👧", 4), ["👩‍👧👩‍👧", "👩‍👧"]);
    }

    #[test]
    fn no_line_is_too_wide_and_nothing_but_space_is_lost() {
        let texts = [
            "The staging server is https://example.org/a/very/long/path?with=query of the shop",
            "日本語 mixed with English, और हिन्दी, żółw and 👩‍👧 family",
            "tabs\tand  spaces   and\nlines\n\nend",
        ];
        for text in texts {
            for width in 4..60 {
                let wrapped = lines(text, width);
                assert!(wrapped.iter().all(|line| line.width() <= width), "{width}: {wrapped:?}");
                let dense = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(dense(&wrapped.join(" ")), dense(text), "{width}");
            }
        }
    }
}
