//! Whether two texts state different values of one fact: the same words in the same order, except for
//! one short part.
//!
//! "The server is called heron" and "The server is called egret" differ in one word, which a vector
//! does not show: their cosine is below that of many different facts. Not here: whether two texts
//! state the same fact (the other files of this folder).

use crate::text::tokenize::{self, Grams};
use std::ops::Range;

/// Maximum words of the part that differs, in each text.
const MAX_OTHER_WORDS: usize = 3;
/// Minimum words before that part, so that the texts have the same subject.
const MIN_WORDS_BEFORE: usize = 2;
/// Share of the words of the longer text that both texts must have.
const MIN_EQUAL_SHARE: f64 = 0.6;
/// Words that only say that a value is new.
const CHANGE_WORDS: [&str; 4] = ["now", "currently", "anymore", "instead"];

/// Returns whether the texts differ in one short part only, after the same beginning.
#[must_use]
pub fn other_value(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let before = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let after = one[before..]
        .iter()
        .rev()
        .zip(other[before..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let equal = before + after;
    let is_short = |words: &[String]| (1..=MAX_OTHER_WORDS).contains(&(words.len() - equal));
    before >= MIN_WORDS_BEFORE
        && is_short(&one)
        && is_short(&other)
        && equal as f64 >= MIN_EQUAL_SHARE * one.len().max(other.len()) as f64
}

fn words(text: &str) -> Vec<String> {
    let lower = |range: Range<usize>| tokenize::lower(&text[range]);
    let words = tokenize::words(text, Grams::Singles).into_iter().map(lower);
    words.filter(|word| !CHANGE_WORDS.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_other_part_after_the_same_beginning_is_another_value() {
        for (one, other) in [
            ("The staging server is called heron", "The staging server is called egret."),
            ("I like herons best", "I like egrets best"),
            ("The build machine has 8 GB of memory", "The build machine has 32 GB of memory now"),
            (
                "We deploy from the main branch on Fridays",
                "We deploy from the main branch on Monday mornings",
            ),
        ] {
            assert!(other_value(one, other) && other_value(other, one), "{one} | {other}");
        }
    }

    #[test]
    fn other_subjects_additions_and_other_sentences_are_not() {
        for (one, other) in [
            ("Anna works at Acme", "Piotr works at Acme"),
            ("The staging server is called heron", "The staging server is called heron"),
            (
                "The staging server is called heron",
                "The staging server is called heron in the docs",
            ),
            ("The staging server is called heron", "The staging server runs Debian and nginx"),
            ("The staging server is called heron", "Deploy with make ship"),
            ("heron", "egret"),
            ("", ""),
        ] {
            assert!(!other_value(one, other), "{one} | {other}");
        }
    }
}
