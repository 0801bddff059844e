//! Rules about possessives: the owner of something.
//!
//! Not here: two owners named with `of` (`word_order`).

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

/// Returns true if one text is about somebody and the other about a thing of theirs: `Anna is
/// allergic`, `Anna's son is allergic`.
pub(crate) fn thing_added(a: &PairedText, b: &PairedText) -> bool {
    let owns_more = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).any(|owner| {
            let is_owner = side.words[owner].role == WordRole::Possessive;
            is_owner
                && side.counterparts[owner]
                    .is_some_and(|j| other.words[j].role != WordRole::Possessive)
                && side.next_content(owner).is_some_and(|thing| side.counterparts[thing].is_none())
        })
    };
    owns_more(a, b) || owns_more(b, a)
}

/// Returns true if a thing has an owner in both texts, and another one in each: `the manager of Ann
/// is Bob`, `Ann is the manager of Bob`.
pub(crate) fn owner_changed(a: &PairedText, b: &PairedText) -> bool {
    (0..a.words.len()).filter_map(|thing| Some((thing, a.counterparts[thing]?))).any(|(x, y)| {
        let (in_a, in_b) = (owner(a, x), owner(b, y));
        let counterpart = |i: &usize| a.counterparts[*i];
        let is_paired = |j: &usize| b.counterparts[*j].is_some();
        !in_a.is_empty()
            && !in_b.is_empty()
            && in_a.iter().all(|i| counterpart(i).is_some_and(|j| !in_b.contains(&j)))
            && in_b.iter().all(is_paired)
    })
}

/// Returns the words of the owner of a thing: after `of`, or before the thing as a possessive.
fn owner(side: &PairedText, thing: usize) -> Vec<usize> {
    let is_content = |i: &usize| !side.words[*i].is_function_word();
    if !is_content(&thing) {
        return Vec::new();
    }
    let is_article = |i: usize| matches!(side.words[i].text.as_str(), "a" | "an" | "the");
    if side.words.get(thing + 1).is_some_and(|word| word.text == "of") {
        let first = (thing + 2..side.words.len()).find(|&i| !is_article(i));
        return first.map_or_else(Vec::new, |first| {
            (first..side.words.len()).take_while(is_content).collect()
        });
    }
    match side.words[..thing].iter().rposition(|word| word.role == WordRole::Possessive) {
        Some(owner) if (owner..thing).all(|i| is_content(&i)) => {
            (0..=owner).rev().take_while(is_content).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true if one text says that X owns Y, and the other that Y owns X with `of`: `the
/// owner's team`, `the owner of the team`.
pub(crate) fn owner_and_thing_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let is_exchanged = |side: &PairedText, other: &PairedText| {
        (0..side.words.len()).filter(|&i| side.words[i].role == WordRole::Possessive).any(|i| {
            let thing = side.next_content(i).and_then(|thing| side.counterparts[thing]);
            side.counterparts[i].zip(thing).is_some_and(|(owner, thing)| {
                other.next_content(owner) == Some(thing)
                    && other.words[owner + 1..thing].iter().any(|word| word.text == "of")
            })
        })
    };
    is_exchanged(a, b) || is_exchanged(b, a)
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
