//! Corrections to classes and roles that need the neighbouring words; applied after the whole text
//! is scanned.
//!
//! Not here: the class of a single word (`scan`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::word::{ScannedWord, WordClass, WordRole};

/// Makes an `a` that no noun follows a value instead of an article: `answer: a`, `revision A of the
/// board`.
pub(crate) fn reclassify_letter_a(words: &mut [ScannedWord]) {
    let leads = |next: &ScannedWord| {
        let joins = matches!(
            next.class,
            WordClass::Function(
                FunctionWord::Preposition | FunctionWord::Tense | FunctionWord::Conjunction
            )
        );
        next.follows_directly && !joins && next.text != "of"
    };
    let letter = |word: &ScannedWord| word.text.len() == 1 && word.class == WordClass::Content;
    for at in 0..words.len() {
        let among_letters =
            || words.iter().any(|word| letter(word) && word.capital == words[at].capital);
        let before_word = words.get(at + 1).is_some_and(leads);
        let before_letter = words.get(at + 1).is_some_and(letter);
        if words[at].text == "a" && (!before_word || !before_letter && among_letters()) {
            words[at].class = WordClass::Content;
        }
    }
}

/// Removes the possessive role of `Anna's` and `her` if no noun follows: `Anna's a nurse`, `ask her
/// about it`.
pub(crate) fn clear_possessives_without_noun(words: &mut [ScannedWord]) {
    for at in 0..words.len() {
        let owned =
            words.get(at + 1).is_some_and(|next| next.follows_directly && !next.is_function_word());
        if words[at].role == WordRole::Possessive && !owned {
            words[at].role = WordRole::Other;
        }
    }
}
