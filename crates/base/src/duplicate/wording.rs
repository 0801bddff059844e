//! Whether two texts are one wording: the same words in the same order.
//!
//! Only such texts are merged when they are stored, because nothing is lost with either. Free are the articles, contractions, a capital at
//! the start of a sentence, the number of `is`, `has` and `does`, and a full stop or exclamation mark at the end. All else is compared byte for byte. Not here:
//! texts that say the same in other words, which are folded when they are read (`same_fact`).

use crate::duplicate::lexicon::function_word;
use std::borrow::Cow;

/// Verbs whose number says nothing that the noun does not say.
const AGREEMENT: [(&str, &str); 4] =
    [("are", "is"), ("were", "was"), ("have", "has"), ("do", "does")];
/// What the ends of contractions stand for. Not here: `'s` and `'d`, which have two meanings.
const CONTRACTIONS: [(&str, &str); 5] =
    [("n't", "not"), ("'re", "are"), ("'m", "am"), ("'ve", "have"), ("'ll", "will")];

/// Returns true if two texts have the same words in the same order.
pub fn is_same_wording(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    !a.is_empty() && a == b
}

/// Returns the words that count, in a form that is free of what does not.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    let tokens: Vec<&str> = without_end(text).split_whitespace().collect();
    let mut words = Vec::with_capacity(tokens.len());
    let mut starts_sentence = true;
    for (at, token) in tokens.iter().enumerate() {
        let word = if starts_sentence { without_capital(token) } else { Cow::Borrowed(*token) };
        starts_sentence = token.ends_with(['.', '!', '?']);
        if !is_article(&word, tokens.get(at + 1)) {
            push_expanded(word, &mut words);
        }
    }
    words
}

/// Removes a full stop or exclamation mark at the end of a word.
fn without_end(text: &str) -> &str {
    let text = text.trim();
    text.strip_suffix(['.', '!'])
        .filter(|rest| rest.ends_with(|c: char| c.is_alphanumeric() || c == ')'))
        .unwrap_or(text)
}

/// Returns a word without its capital, unless another sign of it is more than a small letter.
fn without_capital(token: &str) -> Cow<'_, str> {
    let mut signs = token.trim_end_matches(['.', ',', ';', ':', '!', '?']).chars();
    let first = signs.next().filter(|first| first.is_uppercase());
    let is_plain = signs.all(|sign| sign.is_lowercase() || matches!(sign, '\'' | '’'));
    match first {
        Some(first) if is_plain => {
            let rest = &token[first.len_utf8()..];
            Cow::Owned(first.to_lowercase().chain(rest.chars()).collect())
        }
        _ => Cow::Borrowed(token),
    }
}

/// Returns true for an article before a noun; `a` may be a letter: `answer a`, `node a is down`.
fn is_article(word: &str, next: Option<&&str>) -> bool {
    let is_noun = |next: &&str| {
        next.starts_with(char::is_alphabetic)
            && next.chars().nth(1).is_some()
            && function_word(&next.to_lowercase()).is_none()
    };
    match word {
        "the" => next.is_some(),
        "a" | "an" => next.is_some_and(is_noun),
        _ => false,
    }
}

/// Adds a word, or the words that a contraction stands for.
fn push_expanded<'a>(word: Cow<'a, str>, words: &mut Vec<Cow<'a, str>>) {
    let (first, second) = match expanded(&word) {
        Some((first, second)) => (Cow::Owned(first), Some(Cow::Borrowed(second))),
        None => (word, None),
    };
    words.extend([Some(first), second].into_iter().flatten().map(|word| {
        let agreed = AGREEMENT.iter().find(|(plural, _)| *plural == word);
        agreed.map_or(word, |(_, singular)| Cow::Borrowed(*singular))
    }));
}

/// Returns the words that a contraction stands for: `do` and `not` for `don't`.
pub(crate) fn expanded(word: &str) -> Option<(String, &'static str)> {
    if word == "cannot" {
        return Some(("can".to_owned(), "not"));
    }
    let straight = word.replace('’', "'");
    let (stem, second) = CONTRACTIONS
        .iter()
        .find_map(|(ending, second)| Some((straight.strip_suffix(ending)?, *second)))?;
    let first = match stem {
        "ca" => "can",
        "wo" => "will",
        "sha" => "shall",
        stem => stem,
    };
    (!first.is_empty()).then(|| (first.to_owned(), second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(a: &str, b: &str) -> bool {
        let found = is_same_wording(a, b);
        assert_eq!(found, is_same_wording(b, a), "{a} | {b}");
        found
    }

    #[test]
    fn articles_contractions_agreement_and_the_ends_are_free() {
        for (a, b) in [
            ("The user prefers tabs.", "User prefers tabs"),
            ("A server is down!", "The server is down"),
            ("User doesn't like long meetings", "The user does not like long meetings"),
            ("We can’t deploy on Fridays", "We cannot deploy on Fridays"),
            ("They're in Rome. We've left.", "They are in Rome. we have left"),
            ("The team have a wiki", "The team has a wiki"),
        ] {
            assert!(is_same(a, b), "{a} | {b}");
        }
    }

    #[test]
    fn whatever_may_be_another_fact_keeps_two() {
        for (a, b) in [
            ("Run git branch -d", "Run git branch -D"),
            ("Add it to Path", "Add it to PATH"),
            ("Path is set", "PATH is set"),
            ("Task: [ ] order the sieve", "Task: [x] order the sieve"),
            ("~~Use yarn~~, use pnpm", "Use yarn, ~~use pnpm~~"),
            ("Anna is allergic to mussels", "Anna's son is allergic to mussels"),
            ("We use Postgres", "We could use Postgres"),
            ("The invoice is paid", "The invoice is to be paid"),
            ("Anna reports to Henrik", "Henrik reports to Anna"),
            ("The server is down", "The servers are down"),
            ("The job runs", "The job ran"),
            ("Wait for 5 s", "Wait for 5 S"),
            ("Answer: A", "Answer:"),
            ("Node a is down", "Node is down"),
            ("Vitamin A helps", "Vitamin helps"),
            ("The API is public.", "The API is public?"),
            ("Tabs, not spaces", "Tabs not spaces"),
            ("He'd go", "He would go"),
            ("", ""),
        ] {
            assert!(!is_same(a, b), "{a} | {b}");
        }
    }
}
