//! [`VisibleText`]: a text as a reader sees it, without hidden characters and with composed letters, so that no rule is evaded by a
//! character that nobody sees.
//!
//! Not here: which characters are hidden (`loci_proto::sanitize`), the rules.

use loci_proto::sanitize;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What is seen of a text, and where it comes from.
pub(crate) struct VisibleText {
    /// What is seen.
    pub text: String,
    /// For each letter with its marks: where it begins in `text`, and its bytes in the original.
    letters: Vec<(usize, Range<usize>)>,
}

impl VisibleText {
    /// Returns what is seen of a text; `None` if that is the text itself.
    pub fn of(text: &str) -> Option<Self> {
        if !sanitize::may_hide(text) && !text.chars().any(is_combining_mark) {
            return None;
        }
        let mut seen = Self { text: String::with_capacity(text.len()), letters: Vec::new() };
        let mut letter: Option<(String, Range<usize>)> = None;
        for (c, bytes) in sanitize::visible(text) {
            match &mut letter {
                Some((parts, whole)) if is_combining_mark(c) => {
                    parts.push(c);
                    whole.end = bytes.end;
                }
                _ => seen.push(letter.replace((c.to_string(), bytes))),
            }
        }
        seen.push(letter);
        (seen.text != text).then_some(seen)
    }

    fn push(&mut self, letter: Option<(String, Range<usize>)>) {
        if let Some((parts, bytes)) = letter {
            self.letters.push((self.text.len(), bytes));
            self.text.extend(parts.nfc());
        }
    }

    /// Returns the bytes of the original that a range of the visible text stands for, with the hidden characters between them.
    pub fn original(&self, range: &Range<usize>) -> Range<usize> {
        let letter = |at: usize| {
            let next = self.letters.partition_point(|(start, _)| *start <= at);
            self.letters.get(next.saturating_sub(1)).map_or(0..0, |(_, bytes)| bytes.clone())
        };
        letter(range.start).start..letter(range.end.saturating_sub(1)).end
    }
}

/// Returns a text as [`VisibleText`] writes it.
pub fn visible(text: &str) -> String {
    VisibleText::of(text).map_or_else(|| text.to_owned(), |seen| seen.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lead_back_to_whole_characters_of_the_original() {
        let text = "a\u{200b}b Zoe\u{308}\u{2060}x \u{1b}[31mred";
        let seen = VisibleText::of(text).expect("hides something");
        assert_eq!(seen.text, "ab Zo\u{eb}x red");
        let original = |part: &str| {
            let at = seen.text.find(part).expect("is there");
            &text[seen.original(&(at..at + part.len()))]
        };
        assert_eq!(original("ab"), "a\u{200b}b");
        assert_eq!(original("Zo\u{eb}"), "Zoe\u{308}");
        assert_eq!(original("\u{eb}x"), "e\u{308}\u{2060}x");
        assert_eq!(original("red"), "red");
        assert!(VisibleText::of("Zo\u{eb}, 12\u{a0}km").is_none());
    }
}
