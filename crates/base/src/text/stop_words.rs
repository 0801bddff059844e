//! Stop words of each language: words without a topic. They also identify the language of a text.
//! Pure.
//!
//! The lists are `data/stop_words_*.txt`, one word per line. The figures of docs/retrieval.md were
//! made with the English list of the reference; the other lists are our own. Not here: language
//! detection (`language`), query parsing (`search::query::parse`).

use foldhash::{HashMap, HashMapExt};
use std::sync::LazyLock;

/// The bit of English in the result of [`languages`]; the others follow in the order of
/// `language::ALL`.
pub(crate) const ENGLISH: u8 = 1;

/// The word lists, in the order of the bits.
const LISTS: [&str; 5] = [
    include_str!("data/stop_words_english.txt"),
    include_str!("data/stop_words_german.txt"),
    include_str!("data/stop_words_french.txt"),
    include_str!("data/stop_words_spanish.txt"),
    include_str!("data/stop_words_polish.txt"),
];

/// Stop words of another language that are also English words or parts of names: "die", "son".
/// Sorted.
const AMBIGUOUS_WITH_ENGLISH: &str = include_str!("data/ambiguous_with_english.txt");

/// Length in bytes of the longest stop word.
const MAX_BYTES: usize = 9;

static LANGUAGES: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut languages = HashMap::new();
    for (number, list) in LISTS.iter().enumerate() {
        list.lines().for_each(|word| *languages.entry(word).or_default() |= ENGLISH << number);
    }
    languages
});

static AMBIGUOUS: LazyLock<Vec<&str>> = LazyLock::new(|| AMBIGUOUS_WITH_ENGLISH.lines().collect());

/// Returns the languages in which a word is a stop word, one bit each; 0 for none. The word must be
/// in lower case.
pub fn languages(word: &str) -> u8 {
    if word.len() > MAX_BYTES { 0 } else { LANGUAGES.get(word).copied().unwrap_or(0) }
}

/// The stop words of all languages that are none in an English text.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    let is_stop_word =
        |word: &&&str| LANGUAGES[**word] & ENGLISH != 0 || !is_ambiguous_with_english(word);
    LANGUAGES.keys().filter(is_stop_word).copied()
}

/// Whether a stop word of another language is also a word in English texts.
pub(crate) fn is_ambiguous_with_english(word: &str) -> bool {
    AMBIGUOUS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_stop_word_in_each_language_that_lists_it() {
        assert_eq!((languages("the"), languages("kettle")), (ENGLISH, 0));
        assert_eq!(languages("was"), ENGLISH | ENGLISH << 1, "English and German");
        assert!(
            AMBIGUOUS.is_sorted()
                && is_ambiguous_with_english("die")
                && !is_ambiguous_with_english("der")
        );
    }

    #[test]
    fn the_length_limit_is_that_of_the_longest_stop_word() {
        let words = || LISTS.iter().flat_map(|list| list.lines());
        assert_eq!(words().map(str::len).max(), Some(MAX_BYTES));
        assert!(words().all(|word| languages(word) != 0 && word.trim() == word));
    }
}
