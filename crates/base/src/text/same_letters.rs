//! One form of letters with marks: macOS and some keyboards write `é` as `e` and a mark, others as one character.
//!
//! PURE. Not here: the words of the index, which have this form already (`tokenize`).

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns a text in the composed form (NFC). Texts are stored as they were written; compare this form of both.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// Returns a text in the composed form and in lower case.
#[must_use]
pub fn folded(text: &str) -> String {
    // A letter in lower case may be decomposed.
    composed(&composed(text).to_lowercase()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_write_a_letter_become_one() {
        assert_eq!(composed("cafe\u{301}"), "caf\u{e9}");
        assert_eq!(folded("CAFE\u{301}"), folded("Caf\u{e9}"));
        assert!(matches!(composed("caf\u{e9}"), Cow::Borrowed(_)));
    }
}
