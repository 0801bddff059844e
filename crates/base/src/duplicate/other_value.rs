//! Whether two texts state different values of one fact: the same words in the same order, except for
//! one short part, or the same fact and its negation.
//!
//! "The server is called heron" and "The server is called egret" differ in one word, which a vector
//! does not show: their cosine is below that of many different facts. Not here: whether two texts
//! state the same fact (the other files of this folder).

use crate::duplicate::same_fact;
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

/// Returns whether the texts differ in one short part only, after the same beginning, or one of them
/// negates the other.
pub fn other_value(one: &str, other: &str) -> bool {
    has_other_part(one, other) || negates(one, other)
}

/// Returns whether one of two texts has a negation, and they state the same without it.
fn negates(one: &str, other: &str) -> bool {
    match (without_negation(one), without_negation(other)) {
        (Some(stripped), None) => same_fact(&stripped, other),
        (None, Some(stripped)) => same_fact(one, &stripped),
        _ => false,
    }
}

/// Returns a text without its negations; `None` if it has none.
fn without_negation(text: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let mut is_negated = false;
    for word in text.split_whitespace() {
        let lower = word.to_lowercase().replace('’', "'");
        let stripped = match lower.as_str() {
            "not" | "never" => "",
            // "no longer"
            "longer" if words.last().is_some_and(|last| last.eq_ignore_ascii_case("no")) => {
                words.pop();
                ""
            }
            "cannot" | "can't" => "can",
            "won't" => "will",
            "shan't" => "shall",
            _ if lower.ends_with("n't") => word.get(..word.len() - "n't".len()).unwrap_or(word),
            _ => {
                words.push(word);
                continue;
            }
        };
        is_negated = true;
        words.extend(Some(stripped).filter(|stripped| !stripped.is_empty()));
    }
    is_negated.then(|| words.join(" "))
}

fn has_other_part(one: &str, other: &str) -> bool {
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
    fn one_other_part_after_the_same_beginning_and_a_negation_are_another_value() {
        for (one, other) in [
            ("The staging server is called heron", "The staging server is called egret."),
            ("I like herons best", "I like egrets best"),
            ("The build machine has 8 GB of memory", "The build machine has 32 GB of memory now"),
            (
                "We deploy from the main branch on Fridays",
                "We deploy from the main branch on Monday mornings",
            ),
            ("The ferry leaves at nine", "The ferry does not leave at nine"),
            ("The gate of the yard is open", "The gate of the yard isn't open"),
            ("A deploy needs a review", "A deploy no longer needs a review"),
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
            ("The gate is not open", "The ferry is open"),
            ("heron", "egret"),
            ("", ""),
        ] {
            assert!(!other_value(one, other), "{one} | {other}");
        }
    }
}
