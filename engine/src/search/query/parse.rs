//! From a question in natural language to the words of a keyword search. Pure.

use crate::text::features::small;
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use loci_proto::limits;

/// The words to look for, and whether any were left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// Distinct runs of letters and digits, lower case, at most [`limits::QUERY_TERMS`].
    pub words: Vec<String>,
    /// The query had more, or was longer than [`limits::QUERY_BYTES`].
    pub truncated: bool,
}

/// Splits a query as the index splits texts; small words go, unless nothing else is left.
pub(crate) fn words(query: &str) -> Words {
    let (text, cut) = head(query);
    let mut all: Vec<String> = Vec::new();
    for word in tokens(text) {
        if !all.contains(&word) {
            all.push(word);
            if all.len() > limits::QUERY_TERMS * 8 {
                break;
            }
        }
    }
    let small = small(text);
    let topical: Vec<String> = all.iter().filter(|word| !small(word)).cloned().collect();
    let mut words = if topical.is_empty() { all } else { topical };
    let truncated = cut || words.len() > limits::QUERY_TERMS;
    words.truncate(limits::QUERY_TERMS);
    Words { words, truncated }
}

/// The words of a text, in lower case.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = String> {
    let folded =
        tokenize::words(text, Grams::Pairs).into_iter().map(|word| tokenize::lower(&text[word]));
    // Of a mark that stands alone nothing may be left.
    folded.filter(|word| word.chars().any(char::is_alphanumeric))
}

/// The part of a query that is read, and whether that is not all of it.
pub(crate) fn head(query: &str) -> (&str, bool) {
    if query.len() <= limits::QUERY_BYTES {
        return (query, false);
    }
    let mut end = limits::QUERY_BYTES;
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    (&query[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(query: &str) -> Vec<String> {
        words(query).words
    }

    #[test]
    fn stop_words_go_unless_nothing_else_is_left() {
        assert_eq!(of("When is the backup made?"), ["backup", "made"]);
        assert_eq!(of("Who are you?"), ["who", "are", "you"]);
        assert_eq!(of("¿Dónde está la llave del sótano?"), ["llave", "sótano"]);
    }

    #[test]
    fn operators_and_punctuation_are_only_separators() {
        assert_eq!(of("C++ OR foo-bar user's"), ["c", "foo", "bar", "user"]);
        for nothing in ["\"", "***", "((( :^", ""] {
            assert!(of(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_long_query_is_cut_and_says_so() {
        let long = (0..20_000).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
        let words = words(&long);
        assert!(words.truncated && words.words.len() == limits::QUERY_TERMS);
        assert!(!super::words("short enough").truncated);
    }

    proptest! {
        #[test]
        fn any_text_gives_words_that_need_no_escaping(query in "\\PC{0,200}") {
            prop_assert!(of(&query).iter().all(|word| word.chars().any(char::is_alphanumeric) && !word.contains('"')));
        }
    }
}
