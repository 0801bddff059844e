//! The duplicate guard: decides whether two notes of high cosine state the same fact, or whether
//! one corrects the other.
//!
//! Merging a correction loses the newest value; keeping a duplicate costs one row. Therefore every
//! doubt means "not the same": whatever replaces something else counts as a new value, unless the
//! two are forms of one word or listed as synonyms. `scan` splits a text into words, `pairing`
//! finds for each word its counterpart in the other text, and the `RULES` judge the remaining
//! differences.
//!
//! Not here: vectors and thresholds (a store calls this only above its cosine), and any knowledge
//! of the subject of the notes.

mod changes;
mod context_rules;
mod forms;
mod lexicon;
mod pairing;
mod passive;
mod possessives;
mod scan;
#[cfg(test)]
mod tests;
mod token;
mod word;
mod word_order;

use pairing::PairedText;
use std::collections::HashSet;
use word::{ScannedWord, WordClass};

/// Maximum number of compared words; longer texts state the same fact only if they are equal. The
/// store compares only texts of one chunk, at most 256 tokens.
const MAX_WORDS: usize = 1024;

/// A test that finds one kind of difference.
struct Rule {
    /// The difference, for the maintainers of the guard.
    difference: &'static str,
    /// Returns true if the texts differ in this way.
    is_broken: fn(&PairedText, &PairedText) -> bool,
}

/// The differences that make two facts of two texts, in the order of the tests.
#[rustfmt::skip]
const RULES: [Rule; 16] = [
    Rule { difference: "a value or significant word is in one text only", is_broken: changes::added },
    Rule { difference: "another value", is_broken: changes::replaced },
    Rule { difference: "another function word of the same class", is_broken: changes::function_word_changed },
    Rule { difference: "another function word before the same word", is_broken: changes::replaced_in_position },
    Rule { difference: "prepositions exchanged", is_broken: changes::prepositions_exchanged },
    Rule { difference: "another word negated", is_broken: changes::negation_scope_changed },
    Rule { difference: "another tense", is_broken: changes::tense_changed },
    Rule { difference: "another person", is_broken: changes::person_changed },
    Rule { difference: "subject and object exchanged", is_broken: word_order::roles_exchanged },
    Rule { difference: "active and passive exchanged", is_broken: passive::voice_changed },
    Rule { difference: "`it` as subject and as object", is_broken: word_order::it_exchanged },
    Rule { difference: "neighbours exchanged", is_broken: word_order::neighbours_exchanged },
    Rule { difference: "another clause after the conjunction", is_broken: word_order::clause_changed },
    Rule { difference: "another owner", is_broken: possessives::possessors_exchanged },
    Rule { difference: "owning something and being it", is_broken: possessives::possessive_or_copula },
    Rule { difference: "numbers exchanged", is_broken: word_order::numbers_exchanged },
];

/// Normalises a text for the test of exact equality: white space becomes single spaces, none at the
/// ends, and a final full stop is removed.
///
/// Case and all other punctuation are kept.
#[must_use]
pub fn normalised(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    if folded.strip_suffix('.').is_some_and(|rest| rest.ends_with(char::is_alphanumeric)) {
        folded.pop();
    }
    folded
}

/// Returns true if two texts of high cosine state the same fact, so that one of them can represent
/// both.
///
/// Intended for pairs above the store's threshold: below it, loose paraphrases of different facts
/// may pass.
#[must_use]
pub fn same_fact(a: &str, b: &str) -> bool {
    equivalence(a, b).is_some()
}

/// How closely two texts of the same fact agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equivalence {
    /// The same words or forms of them, and no other words: `Anna reads the book`, `the book is
    /// read by Anna`. If another word order lowers the cosine of such a pair, that has no
    /// significance.
    InWords,
    /// Other words, or words that only one text has. Only a high cosine shows that the texts mean
    /// the same.
    InMeaning,
}

/// Returns how closely two texts agree if they state the same fact.
#[must_use]
pub fn equivalence(a: &str, b: &str) -> Option<Equivalence> {
    judge(a, b).ok()
}

/// The values of a text: numbers, names, calendar words. Extracted once, for comparison with many
/// texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextValues {
    words: HashSet<String>,
    /// The words of one name are one value.
    values: Vec<Vec<String>>,
}

impl TextValues {
    /// Extracts the values of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut values: Vec<Vec<String>> = Vec::new();
        let mut previous_is_value = false;
        let scanned = scan::words(text);
        for word in &scanned {
            let is_value = matches!(word.class, WordClass::Number | WordClass::Unit)
                || (word.capital && word.class != WordClass::Filler);
            match values.last_mut() {
                Some(value) if is_value && previous_is_value && word.follows_directly => {
                    value.push(word.text.clone());
                }
                _ if is_value => values.push(vec![word.text.clone()]),
                _ => {}
            }
            previous_is_value = is_value;
        }
        Self { words: scanned.into_iter().map(|word| word.text).collect(), values }
    }

    /// Returns true if two texts of high cosine report different events: each has more than one
    /// value that the other does not have. Less strict than [`same_fact`]: one differing value may
    /// be a detail.
    pub(crate) fn describes_other_event(&self, other: &Self) -> bool {
        self.values_missing_in(other).min(other.values_missing_in(self)) > 1
    }

    fn values_missing_in(&self, other: &Self) -> usize {
        self.values
            .iter()
            .filter(|value| value.iter().any(|word| !other.words.contains(word)))
            .count()
    }
}

/// Compares two texts.
///
/// # Errors
/// The difference that makes them two facts, for the maintainers of the guard.
fn judge(a: &str, b: &str) -> Result<Equivalence, &'static str> {
    if normalised(a) == normalised(b) {
        return Ok(Equivalence::InWords);
    }
    if a.trim_end().ends_with('?') != b.trim_end().ends_with('?') {
        return Err("a question and a statement");
    }
    // Sorted, so that the result does not depend on which text was stored first.
    let (a, b) = (scan::words(a.min(b)), scan::words(a.max(b)));
    let has_no_fact =
        |words: &[ScannedWord]| words.iter().all(|word| word.class == WordClass::Filler);
    if has_no_fact(&a) || has_no_fact(&b) || a.len().max(b.len()) > MAX_WORDS {
        return Err("too few or too many words to compare");
    }
    let (a, b) = pairing::pair(a, b);
    match RULES.iter().find(|rule| (rule.is_broken)(&a, &b)) {
        Some(rule) => Err(rule.difference),
        None if pairing::have_same_words(&a, &b) => Ok(Equivalence::InWords),
        None => Ok(Equivalence::InMeaning),
    }
}
