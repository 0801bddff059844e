//! Replaces phrases of several words by the words that state the same: `pull request` by `pr`, `in
//! order to` by `to`, `every day` by `daily`.
//!
//! Not here: single words (`lexicon`), and phrases with other words in between.

use crate::duplicate::lexicon::{NEGATIONS, lines};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A phrase after its first word, and its replacement.
struct Phrase {
    rest: Vec<&'static str>,
    replacement: &'static str,
}

/// The phrases by their first word, the longest first.
static PHRASES: LazyLock<HashMap<&str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut phrases: HashMap<&str, Vec<Phrase>> = HashMap::new();
    for (phrase, replacement) in lines(include_str!("data/phrases.txt"), " = ") {
        let mut words = phrase.split(' ');
        let first = words.next().unwrap_or_default();
        phrases.entry(first).or_default().push(Phrase { rest: words.collect(), replacement });
    }
    for group in phrases.values_mut() {
        group.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
    }
    phrases
});

/// Answers and greetings that begin a text and carry no fact if a comma follows. `no` is not here:
/// in a note without care for commas it negates.
const INTERJECTIONS: [&str; 10] =
    ["ah", "hello", "hey", "hi", "oh", "ok", "okay", "well", "yeah", "yes"];

/// Returns the tokens of a text, with its phrases replaced.
pub fn tokens(text: &str) -> Vec<Cow<'_, str>> {
    let mut tokens: Vec<&str> = text.split_whitespace().collect();
    if tokens.len() > 1 && tokens[0].strip_suffix(',').is_some_and(is_interjection) {
        tokens.remove(0);
    }
    let cores: Vec<String> = tokens.iter().map(|token| core(token)).collect();
    let mut replaced = Vec::with_capacity(tokens.len());
    let mut preferred_at = None;
    let mut at = 0;
    while at < tokens.len() {
        if cores[at].starts_with("prefer") {
            preferred_at = Some(at);
        }
        let follows_preferred = preferred_at.is_some_and(|preferred| preferred + 1 < at);
        let found = comparison(&cores[at..], follows_preferred)
            .or_else(|| phrase(&cores[at..]))
            .filter(|(words, _)| is_unbroken(&tokens[at..at + words]));
        if let Some((words, replacement)) = found {
            let replacement = match replacement {
                "must" if is_negated(&cores[..at]) => "optionally",
                other => other,
            };
            replaced.extend(with_punctuation(&tokens[at..at + words], replacement));
            at += words;
        } else {
            replaced.push(Cow::Borrowed(tokens[at]));
            at += 1;
        }
        if tokens[at - 1].ends_with(['.', '!', '?', ';']) {
            preferred_at = None;
        }
    }
    replaced
}

fn is_interjection(word: &str) -> bool {
    INTERJECTIONS.contains(&word.to_lowercase().as_str())
}

/// Returns the token in lower case without the punctuation around it.
fn core(token: &str) -> String {
    token.trim_matches(is_punctuation).to_lowercase().replace('’', "'")
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric()
}

/// Returns true if one of the last three words negates: `never have to` is not `must never`.
fn is_negated(before: &[String]) -> bool {
    let last = &before[before.len().saturating_sub(3)..];
    last.iter().any(|core| core.ends_with("n't") || NEGATIONS.contains(core))
}

/// `prefer` compares with `over`, `to`, `rather than` or `instead of`; all state the same.
fn comparison(cores: &[String], follows_preferred: bool) -> Option<(usize, &'static str)> {
    let is = |at: usize, word: &str| cores.get(at).is_some_and(|core| core == word);
    match () {
        () if !follows_preferred => None,
        () if is(0, "to") => Some((1, "over")),
        () if is(0, "rather") && is(1, "than") || is(0, "instead") && is(1, "of") => {
            Some((2, "over"))
        }
        () => None,
    }
}

/// Returns the number of words of the longest phrase at the start, and its replacement.
fn phrase(cores: &[String]) -> Option<(usize, &'static str)> {
    PHRASES.get(cores[0].as_str())?.iter().find_map(|phrase| {
        let words = phrase.rest.len() + 1;
        let is_equal = cores.len() >= words
            && phrase.rest.iter().zip(&cores[1..]).all(|(word, core)| core == word);
        is_equal.then_some((words, phrase.replacement))
    })
}

/// Returns true if no punctuation separates the tokens.
fn is_unbroken(tokens: &[&str]) -> bool {
    tokens.windows(2).all(|pair| {
        pair[0].ends_with(char::is_alphanumeric) && pair[1].starts_with(char::is_alphanumeric)
    })
}

/// Returns the words of the replacement with the punctuation before and after the phrase.
fn with_punctuation<'a>(
    phrase: &[&'a str],
    replacement: &'static str,
) -> impl Iterator<Item = Cow<'a, str>> {
    let (first, last) = (phrase[0], phrase[phrase.len() - 1]);
    let before = &first[..first.len() - first.trim_start_matches(is_punctuation).len()];
    let after = &last[last.trim_end_matches(is_punctuation).len()..];
    let count = replacement.split(' ').count();
    replacement.split(' ').enumerate().map(move |(at, word)| {
        let before = if at == 0 { before } else { "" };
        let after = if at + 1 == count { after } else { "" };
        Cow::Owned(format!("{before}{word}{after}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_has_a_replacement() {
        for (phrase, replacement) in lines(include_str!("data/phrases.txt"), " = ") {
            assert!(!phrase.is_empty() && !replacement.is_empty(), "{phrase}");
            assert_eq!(core(phrase), phrase);
        }
    }

    fn joined(text: &str) -> String {
        tokens(text).join(" ")
    }

    #[test]
    fn phrases_are_replaced_with_the_punctuation_around_them() {
        assert_eq!(joined("Ask (in order to learn), Ben."), "Ask (to learn), Ben.");
        assert_eq!(joined("Half a dozen."), "6.");
        assert_eq!(joined("Due, to Anna"), "Due, to Anna", "a comma separates the words");
        assert_eq!(joined("Yes, it works"), "it works");
        assert_eq!(joined("Yes it works"), "Yes it works");
        assert_eq!(
            joined("Prefer tabs to spaces. Go to Rome"),
            "Prefer tabs over spaces. Go to Rome"
        );
        assert_eq!(joined("We prefer to use tabs"), "We prefer to use tabs");
        assert_eq!(joined(""), "");
    }
}
