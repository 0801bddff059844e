//! Corrections to classes and roles that need the neighbouring words; applied after the whole text
//! is scanned.
//!
//! Not here: the class of a single word (`scan`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::word::{ScannedWord, WordClass};

/// Makes `a` a value instead of an article if no noun follows: `answer: a`, `revision A of the
/// board`.
pub(crate) fn reclassify_letter_a(words: &mut [ScannedWord]) {
    let may_follow_article = |next: &ScannedWord| {
        let is_function_word = matches!(
            next.class,
            WordClass::Function(
                FunctionWord::Preposition | FunctionWord::Tense | FunctionWord::Conjunction
            )
        );
        next.follows_directly && !is_function_word && next.text != "of"
    };
    let is_letter = |word: &ScannedWord| word.text.len() == 1 && word.class == WordClass::Content;
    for at in 0..words.len() {
        let among_letters = || {
            words
                .iter()
                .any(|word| is_letter(word) && word.is_capitalised == words[at].is_capitalised)
        };
        let before_word = words.get(at + 1).is_some_and(may_follow_article);
        let before_letter = words.get(at + 1).is_some_and(is_letter);
        if words[at].text == "a" && (!before_word || !before_letter && among_letters()) {
            words[at].class = WordClass::Content;
        }
    }
}
