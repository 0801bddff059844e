//! The words of a query that name one thing and not another: names, codes, and single letters. Pure.
//!
//! Not here: what they decide (`search::judge`).

use crate::search::query::parse::tokens;
use loci_base::text::features::stop_word_test;
use loci_base::text::tokenize;
use loci_base::text::tokenize::Grams;
use std::collections::HashSet;

/// The words of a query that name one thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    /// Words with a capital inside the query, in lower case.
    capitalised: HashSet<String>,
    /// Words with a digit or of one letter, in lower case.
    pub identifiers: Vec<String>,
}

impl Marks {
    /// Finds them in a query.
    pub fn of(query: &str) -> Self {
        let words: Vec<&str> =
            tokenize::words(query, Grams::Pairs).into_iter().map(|word| &query[word]).collect();
        let capitalised = words
            .iter()
            .skip(1)
            .filter(|word| starts_with_capital(word))
            .map(|word| tokenize::lower(word))
            .collect();
        let is_stop_word = stop_word_test(query);
        let names_one = |(at, word): &(usize, &&str)| {
            let is_last = at + 1 == words.len();
            has_digit(word)
                || is_letter(word) && {
                    // "A" ends the name of a zone, and begins a sentence.
                    let is_name = is_last || *at > 0 && starts_with_capital(word);
                    let lower = tokenize::lower(word);
                    lower != "i" && (is_name || !is_stop_word(&lower))
                }
        };
        let mut identifiers: Vec<String> =
            words.iter().enumerate().filter(names_one).flat_map(|(_, word)| tokens(word)).collect();
        identifiers.sort_unstable();
        identifiers.dedup();
        Self { capitalised, identifiers }
    }

    /// Returns whether a word is a name or a code.
    pub fn is_mark(&self, word: &str) -> bool {
        has_digit(word) || self.capitalised.contains(&tokenize::lower(word))
    }
}

fn has_digit(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

fn starts_with_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

/// Returns whether a word is one letter of a script with capitals: one sign of another may be a word.
fn is_letter(word: &str) -> bool {
    let mut characters = word.chars();
    let first = characters.next();
    first.is_some_and(|c| c.is_lowercase() || c.is_uppercase()) && characters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_codes_and_letters_are_found() {
        let of = |query: &str| Marks::of(query).identifiers;
        assert_eq!(of("what does alarm A21 of zone C mean"), ["a21", "c"]);
        assert_eq!(of("is a kettle in zone a"), ["a"]);
        assert_eq!(of("do I have a kettle"), Vec::<String>::new());
        assert_eq!(of("pan y vino"), Vec::<String>::new(), "a stop word");
        assert_eq!(of("茶"), Vec::<String>::new());
        let marks = Marks::of("Where does Anna keep kettle2");
        assert!(marks.is_mark("anna") && marks.is_mark("kettle2"));
        assert!(!marks.is_mark("where") && !marks.is_mark("keep"));
    }
}
