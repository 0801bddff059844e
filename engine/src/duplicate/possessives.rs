//! Rules about possessives: the owner of something.
//!
//! Not here: owners named with `of` (`word_order`).

use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::WordRole;

/// Returns true if one word became an owner and another one is no longer an owner: `Ann's dog bit
/// Ben`, `Ben's dog bit Ann`.
pub(crate) fn possessors_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let has_new_owner = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).any(|i| {
            let is_owner = side.words[i].role == WordRole::Possessive;
            is_owner
                && side.counterparts[i].is_some_and(|j| other.words[j].role != WordRole::Possessive)
        })
    };
    has_new_owner(a, b) && has_new_owner(b, a)
}

/// Returns true if one text says that X owns Y, and the other that X is a Y: `Ann's laptop`, `Ann
/// is a laptop`.
pub(crate) fn possessive_or_copula(a: &PairedText, b: &PairedText) -> bool {
    let owns_what_it_is = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).filter(|&i| side.words[i].role == WordRole::Possessive).any(|i| {
            let thing = side.next_content(i).and_then(|thing| side.counterparts[thing]);
            side.counterparts[i].is_some_and(|j| {
                other.next_content(j).is_some() && other.next_content(j) == thing && is_a(other, j)
            })
        })
    };
    owns_what_it_is(a, b) || owns_what_it_is(b, a)
}

/// Returns true if the word is followed by a form of `be` and an article.
fn is_a(side: &PairedText, at: usize) -> bool {
    let is_article = |i: usize| {
        side.words.get(i).is_some_and(|word| matches!(word.text.as_str(), "a" | "an" | "the"))
    };
    side.words[at].role != WordRole::Possessive
        && side.words.get(at + 1).is_some_and(|word| word.role == WordRole::Copula)
        && is_article(at + 2)
}
