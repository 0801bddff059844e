//! Differences in possessives: who owns something.
//!
//! Not here: owners named with `of`, which are a matter of word order (`word_order`).

use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::WordRole;

/// Returns true if one word became an owner and another one is no longer an owner: `Ann's dog bit
/// Ben`, `Ben's dog bit Ann`.
pub(crate) fn possessors_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let gains = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).any(|i| {
            let owner = side.words[i].role == WordRole::Possessive;
            owner
                && side.counterparts[i].is_some_and(|j| other.words[j].role != WordRole::Possessive)
        })
    };
    gains(a, b) && gains(b, a)
}

/// Returns true if one text says that X owns Y, and the other that X is a Y: `Ann's laptop`, `Ann
/// is a laptop`.
pub(crate) fn possessive_or_copula(a: &PairedText, b: &PairedText) -> bool {
    let has = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).filter(|&i| side.words[i].role == WordRole::Possessive).any(|i| {
            let thing = side.next_content(i).and_then(|thing| side.counterparts[thing]);
            side.counterparts[i].is_some_and(|j| {
                other.next_content(j).is_some() && other.next_content(j) == thing && is_a(other, j)
            })
        })
    };
    has(a, b) || has(b, a)
}

fn is_a(side: &PairedText, at: usize) -> bool {
    let article = |i: usize| {
        side.words.get(i).is_some_and(|word| matches!(word.text.as_str(), "a" | "an" | "the"))
    };
    side.words[at].role != WordRole::Possessive
        && side.words.get(at + 1).is_some_and(|word| word.role == WordRole::Copula)
        && article(at + 2)
}
