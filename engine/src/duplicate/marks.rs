//! What only the whole text tells of a word, marked when all words are cut.
//!
//! Deliberately not here: what a word is by itself (`scan`).

use crate::duplicate::lexicon::Family;
use crate::duplicate::word::{Kind, Part, Word};

/// An `a` that no noun follows is no article but a value: `answer: a`, `revision A of the board`.
pub(crate) fn mark_letters(words: &mut [Word]) {
    let leads = |next: &Word| {
        let joins = matches!(
            next.kind,
            Kind::Little(Family::Preposition | Family::Tense | Family::Conjunction)
        );
        next.tied && !joins && next.text != "of"
    };
    let letter = |word: &Word| word.text.len() == 1 && word.kind == Kind::Plain;
    for at in 0..words.len() {
        let among_letters =
            || words.iter().any(|word| letter(word) && word.capital == words[at].capital);
        let before_word = words.get(at + 1).is_some_and(leads);
        let before_letter = words.get(at + 1).is_some_and(letter);
        if words[at].text == "a" && (!before_word || !before_letter && among_letters()) {
            words[at].kind = Kind::Plain;
        }
    }
}

/// Nothing is owned by `Anna's` and `her` where no thing follows: `Anna's a nurse`, `ask her about it`.
pub(crate) fn clear_owners(words: &mut [Word]) {
    for at in 0..words.len() {
        let owned = words.get(at + 1).is_some_and(|next| next.tied && !next.is_little());
        if words[at].part == Part::Owner && !owned {
            words[at].part = Part::Any;
        }
    }
}
