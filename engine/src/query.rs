//! From a question in natural language to the words of a keyword search. Pure.

use loci_proto::limits;

/// The words to look for, and whether any were left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// Distinct runs of letters and digits, lower case, at most [`limits::QUERY_TERMS`].
    pub words: Vec<String>,
    /// The query had more, or was longer than [`limits::QUERY_BYTES`].
    pub truncated: bool,
}

/// English words that carry no topic. The list that the figures of docs/retrieval.md were made with.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before", "being",
    "between", "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "each", "few", "for", "from", "had", "has", "have",
    "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "ll", "m", "me", "more", "most", "my",
    "no", "nor", "not", "now", "of", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "re", "s", "same", "she",
    "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "too", "until", "up", "us", "ve", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose",
    "why", "will", "with", "would", "you", "your",
];

/// Splits a query as the keyword index splits texts; stop words go, unless nothing else is left.
pub(crate) fn words(query: &str) -> Words {
    let (text, cut) = head(query);
    let mut all: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if !all.contains(&word) {
            all.push(word);
            if all.len() > limits::QUERY_TERMS * 8 {
                break;
            }
        }
    }
    let topical: Vec<String> = all.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    let mut words = if topical.is_empty() { all } else { topical };
    let truncated = cut || words.len() > limits::QUERY_TERMS;
    words.truncate(limits::QUERY_TERMS);
    Words { words, truncated }
}

/// The words of a text as the keyword index splits it, lower case.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// True for a word, in lower case, that carries no topic.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
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
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn stop_words_go_unless_nothing_else_is_left() {
        assert_eq!(of("When is the backup made?"), ["backup", "made"]);
        assert_eq!(of("Who are you?"), ["who", "are", "you"]);
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
            prop_assert!(of(&query).iter().all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric)));
        }
    }
}
