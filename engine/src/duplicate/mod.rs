//! Tells a fact said again from a fact corrected, when the vectors of two notes cannot.
//!
//! A correction that is merged loses the newest truth; a duplicate that is kept costs a row. So every doubt is a no: whatever
//! stands in one text in the place of something else in the other is taken for a new value, unless the two are forms of one word
//! or listed as meaning the same. `scan` cuts the texts into words, `pairing` finds each word's answer in the other text,
//! `changes`, `order`, `passive` and `owners` judge what is left.
//!
//! Deliberately not here: vectors and thresholds (the store asks only above its cosine), and any knowledge of what notes are about.

mod changes;
mod chunk;
mod forms;
mod lexicon;
mod marks;
mod owners;
mod pairing;
mod passive;
mod scan;
#[cfg(test)]
mod tests;
mod word;
mod word_order;

use pairing::Side;
use std::collections::HashSet;
use word::{Kind, Word};

/// Longer texts are the same only if they are equal. The gate asks about texts of one piece, 256 tokens at most.
const MOST_WORDS: usize = 1024;

/// A rule, and what it has found when it holds.
type Rule = (&'static str, fn(&Side, &Side) -> bool);

/// What makes two texts two facts. The first that holds decides.
const RULES: [Rule; 16] = [
    ("a value or a word of weight on one side only", changes::added),
    ("a value in another's place", changes::replaced),
    ("a little word in another's place", changes::family_changed),
    ("a little word before the same word", changes::in_its_place),
    ("prepositions exchanged", changes::prepositions_exchanged),
    ("a negation of another word", changes::binds_otherwise),
    ("another time", changes::other_time),
    ("another person", changes::other_person),
    ("the roles exchanged", word_order::roles_exchanged),
    ("done by another or done to another", passive::done_or_does),
    ("it does or is done to", word_order::it_exchanged),
    ("neighbours exchanged", word_order::neighbours_exchanged),
    ("a clause begun otherwise", word_order::begins_otherwise),
    ("another owner", owners::owners_exchanged),
    ("having for being", owners::is_or_has),
    ("the numbers exchanged", word_order::numbers_exchanged),
];

/// The form in which two texts are exactly equal: white space folded to one space, none at the ends, and no last full stop.
///
/// Case and all other punctuation count.
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

/// Whether two texts of high cosine state the same fact, so that one of them may stand for both.
///
/// Meant for pairs above the store's threshold: below it, far paraphrases of different facts may pass.
#[must_use]
pub fn same_fact(a: &str, b: &str) -> bool {
    alike(a, b).is_some()
}

/// How two texts state the same fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// In the same words or forms of them, nothing more on either side: `Anna reads the book`, `the book is read by Anna`. What
    /// another order lowers the cosine by says nothing then.
    InWords,
    /// In other words, or with something that one of them leaves out. Only a high cosine says that they mean the same.
    InMeaning,
}

/// How two texts state the same fact, if they do.
#[must_use]
pub fn alike(a: &str, b: &str) -> Option<Alike> {
    judge(a, b).ok()
}

/// The values of a text: numbers, names, calendar words; read once, to be compared with many.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    words: HashSet<String>,
    /// The words of one name are one value.
    values: Vec<Vec<String>>,
}

impl Values {
    /// Reads a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut values: Vec<Vec<String>> = Vec::new();
        let mut goes_on = false;
        let all = scan::words(text);
        for word in &all {
            let is_value = matches!(word.kind, Kind::Number | Kind::Unit)
                || (word.capital && word.kind != Kind::Filler);
            match values.last_mut() {
                Some(value) if is_value && goes_on && word.tied => value.push(word.text.clone()),
                _ if is_value => values.push(vec![word.text.clone()]),
                _ => {}
            }
            goes_on = is_value;
        }
        Self { words: all.into_iter().map(|word| word.text).collect(), values }
    }

    /// Whether two texts of high cosine tell of two things that happened: in more than one place a value stands where the other text has
    /// another one. Less strict than [`same_fact`]: one other value may be a detail.
    pub(crate) fn are_of_another_event(&self, other: &Self) -> bool {
        self.beside(other).min(other.beside(self)) > 1
    }

    /// How many values the other text does not have.
    fn beside(&self, other: &Self) -> usize {
        self.values
            .iter()
            .filter(|value| value.iter().any(|word| !other.words.contains(word)))
            .count()
    }
}

/// How two texts state the same fact; else what makes them two, in words for people who look after the guard.
fn judge(a: &str, b: &str) -> Result<Alike, &'static str> {
    if normalised(a) == normalised(b) {
        return Ok(Alike::InWords);
    }
    if a.trim_end().ends_with('?') != b.trim_end().ends_with('?') {
        return Err("a question");
    }
    // In an order of our own, so that the answer does not hang on which was stored first.
    let (a, b) = (scan::words(a.min(b)), scan::words(a.max(b)));
    let no_fact = |words: &[Word]| words.iter().all(|word| word.kind == Kind::Filler);
    if no_fact(&a) || no_fact(&b) || a.len().max(b.len()) > MOST_WORDS {
        return Err("too little or too much to compare");
    }
    let (a, b) = pairing::pair(a, b);
    match RULES.iter().find(|(_, holds)| holds(&a, &b)) {
        Some((why, _)) => Err(why),
        None if pairing::of_the_same_words(&a, &b) => Ok(Alike::InWords),
        None => Ok(Alike::InMeaning),
    }
}
