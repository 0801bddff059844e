//! The word lists of the duplicate guard, read from `data/*.txt` at first use.
//!
//! Every list is sorted (tested) and looked up by binary search. Not here: names, tools, places or
//! anything else that a note could be about. A word that is in no list counts as a value, so a
//! missing word makes the guard stricter.

use std::sync::LazyLock;

/// The class of a function word. Replacing it by another word of its class changes the fact; adding
/// or removing one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FunctionWord {
    /// `and`, `or`.
    Conjunction,
    /// `may`, `must`, `will`.
    Modal,
    /// `in`, `on`, `to`, `from`.
    Preposition,
    /// Personal and possessive pronouns.
    Pronoun,
    /// `all`, `some`, `many`.
    Quantifier,
    /// Forms of `be`, `have` and `do` in the present or past tense.
    Tense,
}

impl FunctionWord {
    fn parse(name: &str) -> Self {
        match name {
            "conjunction" => Self::Conjunction,
            "modal" => Self::Modal,
            "preposition" => Self::Preposition,
            "pronoun" => Self::Pronoun,
            "quantifier" => Self::Quantifier,
            "tense" => Self::Tense,
            _ => unreachable!("function_words.txt has the class {name}"),
        }
    }
}

/// Defines one list per data file; the file's first line describes the list.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident: $list:ident = $file:literal;)*) => {
        $($(#[$doc])* pub static $name: LazyLock<$list> =
            LazyLock::new(|| $list(lines(include_str!($file)).collect()));)*
    };
}

lists! {
    /// Words that do not change the fact.
    FILLERS: WordSet = "data/fillers.txt";
    /// Words that do not change the fact before `of`.
    PARTITIVES: WordSet = "data/partitives.txt";
    /// Words that negate a statement.
    NEGATIONS: WordSet = "data/negations.txt";
    /// Number words and ordinals, and their digits.
    NUMBERS: WordMap = "data/numbers.txt";
    /// Units, currencies, calendar words and colours.
    UNITS: WordMap = "data/units.txt";
    /// Words of direction, order, extent, doubt and reversal.
    SIGNIFICANT: WordMap = "data/significant.txt";
    /// Function words: the class, and the entry that stands for equal words.
    FUNCTION_WORDS: WordMap = "data/function_words.txt";
    /// Irregular forms of verbs and their base form.
    IRREGULAR: WordMap = "data/irregular.txt";
    /// Irregular plurals and their singular.
    IRREGULAR_PLURALS: WordMap = "data/irregular_plurals.txt";
    /// Verbs whose past tense equals the base form.
    UNCHANGED_PAST: WordSet = "data/unchanged_past.txt";
    /// Words of equal or nearly equal meaning.
    SYNONYMS: WordMap = "data/synonyms.txt";
}

/// Returns a file's entries: the key, and the rest of the line.
fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines().skip(1).map(|line| line.split_once(' ').unwrap_or((line, "")))
}

/// A sorted list of words.
pub(crate) struct WordSet(Vec<(&'static str, &'static str)>);

impl WordSet {
    /// Returns true if the word is in the list.
    pub fn contains(&self, word: &str) -> bool {
        find(&self.0, word).is_some()
    }
}

/// A sorted list of words with a value each.
pub(crate) struct WordMap(Vec<(&'static str, &'static str)>);

impl WordMap {
    /// Returns the value of a word.
    pub fn get(&self, word: &str) -> Option<&'static str> {
        find(&self.0, word)
    }
}

fn find(list: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    list.binary_search_by(|(key, _)| (*key).cmp(word)).ok().map(|at| list[at].1)
}

/// Returns the class of a function word, and the entry that stands for equal words.
pub(crate) fn function_word(word: &str) -> Option<(FunctionWord, &'static str)> {
    let (class, entry) = FUNCTION_WORDS.get(word)?.split_once(' ')?;
    Some((FunctionWord::parse(class), entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_sorted_without_duplicates_and_complete() {
        for set in [&FILLERS, &PARTITIVES, &NEGATIONS, &UNCHANGED_PAST] {
            assert!(set.0.is_sorted_by(|a, b| a.0 < b.0), "{:?}", set.0);
            assert!(set.0.iter().all(|(word, rest)| !word.is_empty() && rest.is_empty()));
        }
        for map in [
            &NUMBERS,
            &UNITS,
            &SIGNIFICANT,
            &FUNCTION_WORDS,
            &IRREGULAR,
            &IRREGULAR_PLURALS,
            &SYNONYMS,
        ] {
            assert!(map.0.is_sorted_by(|a, b| a.0 < b.0), "{:?}", map.0);
            assert!(map.0.iter().all(|(word, value)| !word.is_empty() && !value.is_empty()));
        }
        for (word, _) in &FUNCTION_WORDS.0 {
            assert!(function_word(word).is_some(), "{word}");
        }
    }
}
