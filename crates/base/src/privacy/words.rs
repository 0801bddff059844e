//! [`Words`]: finds the user's own words and phrases, whole and whatever their case.
//!
//! Not here: what replaces them (`policy`).

use crate::privacy::visible_text::visible;
use regex::Regex;
use std::ops::Range;

/// The user's own words, compiled.
#[derive(Debug, Clone)]
pub struct Words(Vec<Regex>);

impl Words {
    /// Compiles words; `None` without any.
    ///
    /// # Errors
    /// What is wrong with the words, as the rest of a sentence; no word is repeated in it.
    pub fn new(words: &[String]) -> Result<Option<Self>, String> {
        let mut words: Vec<String> = words.iter().map(|word| visible(word.trim())).collect();
        if words.iter().any(|word| word.trim().chars().count() < 2) {
            return Err("must not contain a word of less than 2 characters".to_owned());
        }
        // The longest first, so that "Anna Kowalska" wins over "Anna".
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let (whole, open): (Vec<String>, Vec<String>) =
            words.into_iter().partition(|word| word.ends_with(char::is_alphanumeric));
        // What ends with a letter must not go on: the pattern has what follows, so that a longer word that goes on does not hide a
        // shorter one.
        let patterns = [(whole, r"(?:[^\p{Alphabetic}\p{N}]|\z)"), (open, "")];
        let patterns =
            patterns.iter().filter(|(words, _)| !words.is_empty()).map(|(words, end)| {
                let words: Vec<String> = words.iter().map(|word| phrase(word)).collect();
                Regex::new(&format!("(?i)({}){end}", words.join("|")))
                    .map_err(|_| "are too many or too long".to_owned())
            });
        let patterns = patterns.collect::<Result<Vec<Regex>, String>>()?;
        Ok((!patterns.is_empty()).then_some(Self(patterns)))
    }

    /// Returns the byte ranges of the words, in order; those that overlap as one.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for pattern in &self.0 {
            let mut from = 0;
            while let Some(word) = pattern.captures_at(text, from).and_then(|found| found.get(1)) {
                let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let is_inside = joins(word.as_str().chars().next())
                    && joins(text[..word.start()].chars().next_back());
                if !is_inside {
                    found.push(word.range());
                }
                let first = word.as_str().chars().next().map_or(1, char::len_utf8);
                from = word.start() + first;
            }
        }
        merged(found)
    }
}

/// Returns the pattern of one word; any white space may be between the parts of a phrase.
fn phrase(word: &str) -> String {
    let parts: Vec<String> = word.split_whitespace().map(regex::escape).collect();
    parts.join(r"\s+")
}

/// Returns ranges in order, those that overlap as one.
pub fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| range.start);
    let mut kept: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match kept.last_mut() {
            Some(last) if last.end > range.start => last.end = last.end.max(range.end),
            _ => kept.push(range),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(words: &[&str], text: &'a str) -> Vec<&'a str> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let words = Words::new(&words).expect("compiles").expect("has words");
        words.find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn own_words_are_found_whole_and_in_any_case() {
        assert_eq!(
            found(&["Anna", "Projekt X"], "anna, ANNA; Annabel; projekt x"),
            ["anna", "ANNA", "projekt x"]
        );
        assert_eq!(found(&["Anna"], "Anna Anna_x, preAnna, (Anna)"), ["Anna", "Anna", "Anna"]);
        assert_eq!(found(&["C++", "--"], "c++11 and a--b"), ["c++", "--"]);
        assert!(Words::new(&[]).expect("compiles").is_none());
    }

    #[test]
    fn a_longer_word_that_goes_on_hides_no_shorter_one() {
        let words = ["Anna Kowalska", "Anna", "Kowalska Maria"];
        assert_eq!(found(&words, "Anna Kowalskaja called"), ["Anna"]);
        assert_eq!(found(&words, "Anna Kowalska called"), ["Anna Kowalska"]);
        assert_eq!(found(&words, "Anna Kowalska Maria"), ["Anna Kowalska Maria"]);
        assert_eq!(found(&["A.", "A.K"], "A.K signs"), ["A.K"]);
    }

    #[test]
    fn any_white_space_is_between_the_words_of_a_phrase() {
        for text in ["Blue\u{a0}Bird", "blue\tbird", "Blue\n  Bird", "BLUE\u{2003}BIRD"] {
            assert_eq!(found(&["Blue Bird"], text), [text], "{text:?}");
        }
    }
}
