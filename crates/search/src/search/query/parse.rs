//! Parsing of a query text into keywords. Pure.
//!
//! Not here: index terms of a keyword (`text::terms`), times that a query names (`text::dates`).

use loci_base::text::features::stop_word_test;
use loci_base::text::stem;
use loci_base::text::tokenize;
use loci_base::text::tokenize::Grams;
use loci_proto::limits;
use std::collections::HashSet;

/// Maximum number of distinct words that are read, as a multiple of the maximum number of keywords.
const WORDS_PER_KEYWORD: usize = 8;

/// A query text, parsed once and used by every step of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedQuery {
    /// The part of the text that is read: at most [`limits::QUERY_BYTES`].
    pub text: String,
    /// Distinct words in lower case, at most [`limits::QUERY_TERMS`]; without stop words, unless
    /// there is nothing else.
    pub keywords: Vec<String>,
    /// Whether text or keywords beyond these limits were dropped.
    pub truncated: bool,
}

impl ParsedQuery {
    /// Parses a query; it is tokenized as the index tokenizes texts.
    pub fn new(query: &str) -> Self {
        let (text, cut) = truncate(query);
        let mut words: Vec<String> = Vec::new();
        for word in tokens_and_parts(text) {
            if !words.contains(&word) {
                words.push(word);
                if words.len() > limits::QUERY_TERMS * WORDS_PER_KEYWORD {
                    break;
                }
            }
        }
        let is_stop_word = stop_word_test(text);
        let topical: Vec<String> =
            words.iter().filter(|word| !is_stop_word(word)).cloned().collect();
        let mut keywords = if topical.is_empty() { words } else { topical };
        let truncated = cut || keywords.len() > limits::QUERY_TERMS;
        keywords.truncate(limits::QUERY_TERMS);
        Self { text: text.to_owned(), keywords, truncated }
    }
}

impl ParsedQuery {
    /// Returns whether the query contains the content words of a predicate, in any form:
    /// `reports_to` is in "who does Anna report to".
    pub fn asks_for(&self, predicate: &str) -> bool {
        let predicate = predicate.replace('_', " ");
        let is_stop_word = stop_word_test(&predicate);
        let stem = |word: &str| stem::stem_plain(tokenize::unmarked(word));
        let keywords: HashSet<String> = self.keywords.iter().map(|word| stem(word)).collect();
        let mut words = tokens(&predicate).filter(|word| !is_stop_word(word)).peekable();
        words.peek().is_some() && words.all(|word| keywords.contains(&stem(&word)))
    }
}

/// Returns the words of a text in lower case, and after each identifier its parts without digits.
fn tokens_and_parts(text: &str) -> impl Iterator<Item = String> {
    let words = tokenize::words(text, Grams::Pairs).into_iter().map(|word| &text[word]);
    let with_parts = words.flat_map(|word| {
        let parts = tokenize::identifier_parts(word);
        std::iter::once(word).chain(parts.filter(|part| !part.contains(char::is_numeric)))
    });
    let lower = with_parts.map(tokenize::lower);
    lower.filter(|word| word.chars().any(char::is_alphanumeric))
}

/// Returns the words of a text in lower case.
pub fn tokens(text: &str) -> impl Iterator<Item = String> {
    let lower =
        tokenize::words(text, Grams::Pairs).into_iter().map(|word| tokenize::lower(&text[word]));
    // The lower case of a lone combining mark may be empty.
    lower.filter(|word| word.chars().any(char::is_alphanumeric))
}

/// Cuts a query to [`limits::QUERY_BYTES`] at a character boundary. The flag says whether anything
/// was cut.
fn truncate(query: &str) -> (&str, bool) {
    let end = query.floor_char_boundary(limits::QUERY_BYTES);
    (&query[..end], end < query.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keywords(query: &str) -> Vec<String> {
        ParsedQuery::new(query).keywords
    }

    #[test]
    fn stop_words_are_left_out_unless_nothing_else_is_left() {
        assert_eq!(keywords("When is the backup made?"), ["backup", "made"]);
        assert_eq!(keywords("Who are you?"), ["who", "are", "you"]);
        assert_eq!(keywords("¿Dónde está la llave del sótano?"), ["llave", "sótano"]);
    }

    #[test]
    fn operators_and_punctuation_are_only_separators() {
        assert_eq!(keywords("C++ OR foo-bar user's"), ["c", "foo", "bar", "user"]);
        assert_eq!(keywords("getUserById E4017"), ["getuserbyid", "get", "user", "id", "e4017"]);
        for query in ["\"", "***", "((( :^", ""] {
            assert!(keywords(query).is_empty(), "{query}");
        }
    }

    #[test]
    fn a_long_query_is_truncated_and_says_so() {
        let long = (0..20_000).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
        let parsed = ParsedQuery::new(&long);
        assert!(parsed.truncated && parsed.keywords.len() == limits::QUERY_TERMS);
        assert!(!ParsedQuery::new("short enough").truncated);
    }

    proptest! {
        #[test]
        fn keywords_need_no_escaping(query in "\\PC{0,200}") {
            prop_assert!(keywords(&query).iter().all(|word| word.chars().any(char::is_alphanumeric) && !word.contains('"')));
        }
    }
}
