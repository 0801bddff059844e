//! Pairs the words of two texts: finds for each word its counterpart in the other text.
//!
//! Not here: rules about unpaired words (`changes`) and about the word order (`word_order`).

use crate::duplicate::forms::WordForms;
use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::word::{ScannedWord, WordClass, WordRole};
use std::cmp::Ordering;

/// If a text has more unpaired content words than this, only equal words are paired: the texts
/// state different facts in any case.
const MAX_UNPAIRED: usize = 48;

/// One of two texts, with the counterparts of its words.
#[derive(Debug)]
pub(crate) struct PairedText {
    /// Its words, in order.
    pub words: Vec<ScannedWord>,
    /// For each word the index of its counterpart in the other text. Fillers have none.
    pub counterparts: Vec<Option<usize>>,
}

impl PairedText {
    /// Returns the indices of the words without a counterpart, except fillers.
    pub(crate) fn unpaired(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len())
            .filter(|&i| self.counterparts[i].is_none() && self.words[i].class != WordClass::Filler)
    }

    /// Returns true if a word of this class has no counterpart.
    pub(crate) fn has_unpaired(&self, class: WordClass) -> bool {
        self.unpaired().any(|i| self.words[i].class == class)
    }

    /// Returns the next word that is not a function word.
    pub(crate) fn next_content(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| !self.words[i].is_function_word())
    }

    /// Returns the next word whose position matters.
    pub(crate) fn next_order_sensitive(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| self.words[i].is_order_sensitive())
    }

    /// Returns the previous word that is not a function word.
    pub(crate) fn previous_content(&self, from: usize) -> Option<usize> {
        (0..from).rev().find(|&i| !self.words[i].is_function_word())
    }

    /// Returns the next word that a negation can apply to: a quantifier, or a word that is not a
    /// function word.
    pub(crate) fn next_in_scope(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| {
            !self.words[i].is_function_word()
                || self.words[i].class == WordClass::Function(FunctionWord::Quantifier)
        })
    }

    /// Returns the preposition, modal or tense word directly before a word that is not a function
    /// word; fillers are skipped.
    pub fn governor(&self, at: usize) -> Option<&str> {
        let before = self.words[..at].iter().rev().find(|word| word.class != WordClass::Filler)?;
        (matches!(
            before.class,
            WordClass::Function(
                FunctionWord::Preposition | FunctionWord::Modal | FunctionWord::Tense
            )
        ) && !self.words[at].is_function_word())
        .then_some(before.text.as_str())
    }

    /// Returns true if one of the three words before this one is a form of `be`, `have` or `do`.
    pub(crate) fn has_auxiliary(&self, at: usize) -> bool {
        self.words[at.saturating_sub(3)..at].iter().any(ScannedWord::is_auxiliary)
    }

    /// Returns true if one of the three words before this one is a form of `have`.
    pub(crate) fn has_perfect(&self, at: usize) -> bool {
        let is_form = |word: &ScannedWord| matches!(word.written.as_str(), "has" | "have" | "had");
        self.words[at.saturating_sub(3)..at].iter().any(is_form)
    }

    /// Returns true if `to` or `to be` is before this word.
    pub(crate) fn follows_to(&self, at: usize) -> bool {
        let before = self.words[..at].iter().rev().find(|word| word.text != "be");
        before.is_some_and(|word| word.written == "to")
    }

    /// Returns true if one of the three words before this one is a form of `be`.
    pub(crate) fn is_passive(&self, at: usize) -> bool {
        let is_form_of_be = |word: &ScannedWord| {
            word.role == WordRole::Copula || matches!(word.text.as_str(), "be" | "been" | "being")
        };
        self.words[at.saturating_sub(3)..at].iter().any(is_form_of_be)
    }

    /// Sets the counterpart of a word that has none.
    fn set_counterpart(&mut self, at: usize, counterpart: usize) {
        self.counterparts[at] = self.counterparts[at].or(Some(counterpart));
    }
}

/// Pairs equal words, then forms of one word and synonyms (except names). Skips the second step if the texts
/// state different facts in any case.
pub fn pair(a: Vec<ScannedWord>, b: Vec<ScannedWord>) -> (PairedText, PairedText) {
    let side =
        |words: Vec<ScannedWord>| PairedText { counterparts: vec![None; words.len()], words };
    let (mut a, mut b) = (side(a), side(b));
    pair_equal(&mut a, &mut b, true);
    pair_equal(&mut a, &mut b, false);
    let (left, right) = (unpaired_content(&a), unpaired_content(&b));
    let is_other_fact =
        [&a, &b].iter().any(|side| side.unpaired().any(|i| side.words[i].counts_alone()));
    if !is_other_fact && left.len().max(right.len()) <= MAX_UNPAIRED {
        let forms: Vec<WordForms> =
            right.iter().map(|&j| WordForms::of(&b.words[j].text)).collect();
        for &i in &left {
            let form = WordForms::of(&a.words[i].text);
            let matches = |j: usize, other: &WordForms| {
                b.counterparts[j].is_none()
                    && !a.words[i].is_name
                    && !b.words[j].is_name
                    && form.is_related(other)
            };
            let counterpart =
                right.iter().zip(&forms).find(|&(&j, other)| matches(j, other)).map(|(&j, _)| j);
            if let Some(j) = counterpart {
                a.set_counterpart(i, j);
                b.set_counterpart(j, i);
            }
        }
    }
    (a, b)
}

/// Returns the indices of the content words without a counterpart.
fn unpaired_content(side: &PairedText) -> Vec<usize> {
    side.unpaired().filter(|&i| side.words[i].class == WordClass::Content).collect()
}

/// Pairs equal words: with `by_next` only those that are followed by equal words, else the n-th
/// occurrence in one text with the n-th in the other.
fn pair_equal(a: &mut PairedText, b: &mut PairedText, by_next: bool) {
    let (left, right) = (unpaired_by_key(a, by_next), unpaired_by_key(b, by_next));
    let (mut x, mut y) = (0, 0);
    while x < left.len() && y < right.len() {
        match key(a, left[x], by_next).cmp(&key(b, right[y], by_next)) {
            Ordering::Less => x += 1,
            Ordering::Greater => y += 1,
            Ordering::Equal => {
                a.set_counterpart(left[x], right[y]);
                b.set_counterpart(right[y], left[x]);
                x += 1;
                y += 1;
            }
        }
    }
}

/// Returns the key by which words are compared: group of classes, text, and with `by_next` the next
/// word that is not a filler.
fn key(side: &PairedText, at: usize, by_next: bool) -> (u8, &str, Option<&str>) {
    let next = side.words[at + 1..]
        .iter()
        .find(|word| word.class != WordClass::Filler)
        .filter(|_| by_next);
    let group = match side.words[at].class {
        WordClass::Number | WordClass::One => 0,
        WordClass::Unit => 1,
        WordClass::Function(_) => 2,
        _ => 3,
    };
    (group, &side.words[at].text, next.map(|word| word.text.as_str()))
}

/// Returns the indices of the unpaired words, sorted by their keys.
fn unpaired_by_key(side: &PairedText, by_next: bool) -> Vec<usize> {
    let mut unpaired: Vec<usize> = side.unpaired().collect();
    unpaired.sort_by(|&x, &y| key(side, x, by_next).cmp(&key(side, y, by_next)).then(x.cmp(&y)));
    unpaired
}
