//! The duplicate guard. `is_same_wording` decides whether two texts are merged when they are stored,
//! and `compare_facts` which of two notes of high cosine represents both when they are read: the one
//! that says more.
//!
//! A merged text is lost, so its words must be the same. A folded one stays; showing a correction
//! behind what it corrects is the only harm. Therefore `compare_facts` answers "not the same" in case of
//! doubt: a word that replaces another one counts as a new value, unless the two are forms of one
//! word or listed as synonyms. `signs` compares tokens with signs byte for byte, `scan` splits a text
//! into words, `pairing` finds for each word its counterpart in the other text, and the `RULES` judge
//! the remaining differences.
//!
//! Not here: vectors and thresholds, and any knowledge of the subject of the notes.

mod changes;
pub mod content_hash;
mod context_rules;
mod forms;
mod lexicon;
mod pairing;
mod passive;
mod possessives;
mod scan;
mod signs;
#[cfg(test)]
mod tests;
mod token;
mod word;
mod word_order;
mod wording;

use pairing::PairedText;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;
use word::{ScannedWord, WordClass};
pub use wording::is_same_wording;

/// Maximum number of compared words; longer texts state the same fact only if they are equal.
const MAX_WORDS: usize = 1024;

/// A check for one kind of difference.
struct Rule {
    /// The name of the difference, shown in the guard's own tests.
    difference: &'static str,
    /// Returns true if the texts differ in this way.
    has_difference: fn(&PairedText, &PairedText) -> bool,
}

/// The differences by which two texts state different facts, in the order of the checks.
#[rustfmt::skip]
const RULES: [Rule; 18] = [
    Rule { difference: "a value or significant word is in one text only", has_difference: changes::added },
    Rule { difference: "another value", has_difference: changes::replaced },
    Rule { difference: "another function word of the same class", has_difference: changes::function_word_changed },
    Rule { difference: "another function word before the same word", has_difference: changes::replaced_in_position },
    Rule { difference: "prepositions exchanged", has_difference: changes::prepositions_exchanged },
    Rule { difference: "another word negated", has_difference: changes::negation_scope_changed },
    Rule { difference: "another tense", has_difference: changes::tense_changed },
    Rule { difference: "to do and done", has_difference: changes::infinitive_changed },
    Rule { difference: "narrower with an added word", has_difference: changes::is_narrower },
    Rule { difference: "somebody and something of theirs", has_difference: changes::head_added },
    Rule { difference: "subject and object exchanged", has_difference: word_order::roles_exchanged },
    Rule { difference: "active and passive exchanged", has_difference: passive::voice_changed },
    Rule { difference: "`it` as subject and as object", has_difference: word_order::it_exchanged },
    Rule { difference: "neighbours exchanged", has_difference: word_order::neighbours_exchanged },
    Rule { difference: "words side by side exchanged", has_difference: word_order::side_by_side_exchanged },
    Rule { difference: "another clause after the conjunction", has_difference: word_order::clause_changed },
    Rule { difference: "another owner", has_difference: possessives::owner_changed },
    Rule { difference: "numbers exchanged", has_difference: word_order::numbers_exchanged },
];

/// Normalises a text for the check of exact equality: each run of white space becomes one space,
/// white space at both ends and a final full stop are removed.
///
/// Case and all other punctuation are kept. Most stored texts are normal but for the full stop, so
/// they are not copied.
pub fn normalised(text: &str) -> Cow<'_, str> {
    if has_single_spaces(text) {
        return Cow::Borrowed(without_full_stop(text));
    }
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded.truncate(without_full_stop(&folded).len());
    Cow::Owned(folded)
}

/// Returns whether a text is ASCII with single spaces between words and none at its ends. May return
/// false for others that are normal.
fn has_single_spaces(text: &str) -> bool {
    let mut is_after_space = true;
    let mut is_normal = true;
    for byte in text.bytes() {
        let is_space = byte == b' ';
        is_normal &= byte.is_ascii() && !(b'\t'..=b'\r').contains(&byte);
        is_normal &= !(is_space && is_after_space);
        is_after_space = is_space;
    }
    is_normal && !is_after_space
}

/// Removes a full stop at the end that follows a letter or digit.
fn without_full_stop(text: &str) -> &str {
    text.strip_suffix('.').filter(|rest| rest.ends_with(char::is_alphanumeric)).unwrap_or(text)
}

/// Returns true if two texts of high cosine state the same fact: see [`compare_facts`].
pub fn same_fact(a: &str, b: &str) -> bool {
    judge(a, b).is_ok()
}

/// Returns which of two texts of high cosine says more of the same fact, `Equal` if neither does, and
/// `None` if they state different facts. `The dog is old and ill` says more than `The dog is old`.
///
/// Use it only for pairs of high cosine: below it, loose paraphrases of different facts may be taken
/// for the same fact.
pub fn compare_facts(a: &str, b: &str) -> Option<Ordering> {
    judge(a, b).ok()
}

/// The values of a text: numbers, names, calendar words. Extracted once, for comparison with many
/// texts.
#[derive(Debug, Clone, Default)]
pub struct TextValues {
    words: HashSet<String>,
    /// The words of one name are one value.
    values: Vec<Vec<String>>,
}

impl TextValues {
    /// Extracts the values of a text.
    pub fn of(text: &str) -> Self {
        let mut values: Vec<Vec<String>> = Vec::new();
        let mut previous_is_value = false;
        let scanned = scan::words(text);
        for word in &scanned {
            let is_value = matches!(word.class, WordClass::Number | WordClass::Unit)
                || (word.is_capitalised && word.class != WordClass::Filler);
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
    /// value that the other does not have. Less strict than [`same_fact`], because one differing
    /// value may be a detail.
    pub fn describes_other_event(&self, other: &Self) -> bool {
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
/// The name of the difference that makes them two facts.
fn judge(a: &str, b: &str) -> Result<Ordering, &'static str> {
    if normalised(a) == normalised(b) {
        return Ok(Ordering::Equal);
    }
    if signs::are_changed(a, b) {
        return Err("another sign of a token");
    }
    if a.trim_end().ends_with('?') != b.trim_end().ends_with('?') {
        return Err("a question and a statement");
    }
    // Sorted, so that the result does not depend on which text was stored first.
    let is_swapped = a > b;
    let (a, b) = (scan::words(a.min(b)), scan::words(a.max(b)));
    let has_only_fillers =
        |words: &[ScannedWord]| words.iter().all(|word| word.class == WordClass::Filler);
    if has_only_fillers(&a) || has_only_fillers(&b) || a.len().max(b.len()) > MAX_WORDS {
        return Err("too few or too many words to compare");
    }
    let (a, b) = pairing::pair(a, b);
    if let Some(rule) = RULES.iter().find(|rule| (rule.has_difference)(&a, &b)) {
        return Err(rule.difference);
    }
    // Only one of them has such words: see `changes::replaced`.
    let extra = |side: &PairedText| {
        side.has_unpaired(WordClass::Content) || side.has_unpaired(WordClass::Symbol)
    };
    let order = extra(&a).cmp(&extra(&b));
    Ok(if is_swapped { order.reverse() } else { order })
}
