//! Whose a thing is.
//!
//! Deliberately not here: owners named with `of`, whose order counts (`order`).

use crate::duplicate::pairing::Side;
use crate::duplicate::word::Part;

/// One has become an owner and another has ceased to be one: `Ann's dog bit Ben`, `Ben's dog bit Ann`.
pub(crate) fn owners_exchanged(a: &Side, b: &Side) -> bool {
    let gains = |side: &Side, other: &Side| {
        (0..side.words.len()).any(|i| {
            let owner = side.words[i].part == Part::Owner;
            owner && side.answers[i].is_some_and(|j| other.words[j].part != Part::Owner)
        })
    };
    gains(a, b) && gains(b, a)
}

/// `Ann's laptop` in one text, `Ann is a laptop` in the other.
pub(crate) fn is_or_has(a: &Side, b: &Side) -> bool {
    let has = |side: &Side, other: &Side| {
        (0..side.words.len()).filter(|&i| side.words[i].part == Part::Owner).any(|i| {
            let thing = side.next(i).and_then(|thing| side.answers[thing]);
            side.answers[i].is_some_and(|j| {
                other.next(j).is_some() && other.next(j) == thing && is_a(other, j)
            })
        })
    };
    has(a, b) || has(b, a)
}

fn is_a(side: &Side, at: usize) -> bool {
    let article = |i: usize| {
        side.words.get(i).is_some_and(|word| matches!(word.text.as_str(), "a" | "an" | "the"))
    };
    side.words[at].part != Part::Owner
        && side.words.get(at + 1).is_some_and(|word| word.part == Part::Copula)
        && article(at + 2)
}
