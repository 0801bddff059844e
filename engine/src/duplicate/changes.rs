//! What a difference in words means for the fact.
//!
//! Every rule is asked with both texts and says whether they are two facts; rules of one direction are asked both ways.
//! Deliberately not here: differences of order (`order`).

use crate::duplicate::forms::{bases, is_irregular};
use crate::duplicate::lexicon::{Family, UNCHANGED, holds};
use crate::duplicate::pairing::Side;
use crate::duplicate::word::{Kind, Word};

/// Asks a rule of one direction both ways.
fn either(a: &Side, b: &Side, rule: fn(&Side, &Side) -> bool) -> bool {
    rule(a, b) || rule(b, a)
}

/// Something stands on one side only that is a fact by itself.
pub(crate) fn added(a: &Side, b: &Side) -> bool {
    either(a, b, |side, other| {
        side.alone().any(|at| {
            let word = &side.words[at];
            let names_another = || {
                joins_a_name(side, other, at) || splits_a_compound(side, at) || is_listed(side, at)
            };
            word.counts_alone() || word.kind == Kind::Plain && names_another()
        })
    })
}

/// `React Native`, `Pixel 8 Pro`, where the other text has `React` and `Pixel 8`.
fn joins_a_name(side: &Side, other: &Side, at: usize) -> bool {
    let named = |word: &Word| word.capital || word.kind == Kind::Number;
    let word = &side.words[at];
    let known =
        |i: usize| named(&side.words[i]) && side.answers[i].is_some_and(|j| named(&other.words[j]));
    word.name && word.tied && at > 0 && known(at - 1)
}

/// `release-next`, where the other text has `release`.
fn splits_a_compound(side: &Side, at: usize) -> bool {
    let compound = side.words[at].compound;
    compound.is_some()
        && (0..side.words.len())
            .any(|i| side.words[i].compound == compound && side.answers[i].is_some())
}

/// One more in a list: `Anna, Bob and Carol`, where the other text has two of them.
fn is_listed(side: &Side, at: usize) -> bool {
    let word = &side.words[at];
    let joined = |i: usize| {
        side.words.get(i).is_some_and(|w| w.kind == Kind::Little(Family::Conjunction))
            && (word.name || side.answers[i].is_none())
    };
    let after_commas = at > 1 && !word.tied && !side.words[at - 1].tied;
    after_commas || at > 0 && joined(at - 1) || joined(at + 1)
}

/// Both sides have a word, or a sign, that the other has not.
pub(crate) fn replaced(a: &Side, b: &Side) -> bool {
    [Kind::Plain, Kind::Sign].iter().any(|&kind| a.lacks(kind) && b.lacks(kind))
}

/// One little word stands for another of its family. Prepositions change too easily: see [`in_its_place`].
pub(crate) fn family_changed(a: &Side, b: &Side) -> bool {
    [Family::Conjunction, Family::Modal, Family::Pronoun, Family::Quantifier, Family::Tense]
        .iter()
        .any(|&family| a.lacks(Kind::Little(family)) && b.lacks(Kind::Little(family)))
}

/// Before the same word, or at the end, stands another preposition, or a value for `one`, `every`, `his`.
pub(crate) fn in_its_place(a: &Side, b: &Side) -> bool {
    let changes = |x: Kind, y: Kind| {
        let counts =
            |kind| matches!(kind, Kind::Little(Family::Quantifier | Family::Pronoun) | Kind::One);
        let preposition = Kind::Little(Family::Preposition);
        (x == preposition && y == preposition)
            || counts(x) && y == Kind::Plain
            || x == Kind::Plain && counts(y)
    };
    a.alone().any(|i| {
        let before = a.next(i).map(|next| a.answers[next]);
        b.alone()
            .any(|j| changes(a.words[i].kind, b.words[j].kind) && before == b.next(j).map(Some))
    })
}

/// Two words have exchanged what stands before them: `for Mia on Friday`, `for Friday on Mia`; `must call, may write`.
pub(crate) fn prepositions_exchanged(a: &Side, b: &Side) -> bool {
    let changes: Vec<(&str, &str)> = (0..a.words.len())
        .filter_map(|i| Some((a.governor(i)?, b.governor(a.answers[i]?)?)))
        .filter(|(here, there)| here != there)
        .collect();
    changes.iter().any(|&(here, there)| changes.contains(&(there, here)))
}

/// A negation, or `only`, stands before another word.
pub(crate) fn binds_otherwise(a: &Side, b: &Side) -> bool {
    a.words.iter().zip(&a.answers).enumerate().any(|(here, (word, answer))| {
        let binds = word.kind == Kind::Negation || word.text == "only";
        let Some(there) = answer.filter(|_| binds) else { return false };
        match (a.next_bound(here), b.next_bound(there)) {
            (Some(bound), Some(other)) => {
                a.answers[bound] != Some(other) && b.answers[other] != Some(bound)
            }
            (bound, other) => bound != other,
        }
    })
}

/// A person stands in one text where the other has only a pronoun, or the user.
pub(crate) fn other_person(a: &Side, b: &Side) -> bool {
    either(a, b, |side, other| {
        let unknown = |word: &Word| {
            word.kind == Kind::Little(Family::Pronoun)
                && !other.words.iter().any(|w| w.kind == word.kind && w.text == word.text)
        };
        other.lacks(Kind::Plain) && side.alone().any(|i| unknown(&side.words[i]))
    })
}

/// A verb is past in one text only, or done in one and being done in the other.
pub(crate) fn other_time(a: &Side, b: &Side) -> bool {
    if super::passive::agent(a, b).or_else(|| super::passive::agent(b, a)).is_some() {
        return false;
    }
    either(a, b, |past, now| {
        (0..past.words.len()).any(|i| match past.answers[i] {
            Some(j) if past.words[i].may_be_a_verb() => {
                is_over(past, i, now, j) || is_under_way(now, j, past, i)
            }
            _ => false,
        })
    })
}

/// `lived` against `lives`, `was blocked` against `is blocking`, `we used` against `we use`.
fn is_over(past: &Side, i: usize, now: &Side, j: usize) -> bool {
    let (was, is) = (past.words[i].written.as_str(), now.words[j].written.as_str());
    let looks_past = was != is
        && (was.ends_with("ed")
            || is_irregular(was) && !was.ends_with('s')
            || holds(UNCHANGED, was));
    if !looks_past
        || !bases(is)
            .iter()
            .any(|base| bases(was)[1..].contains(base) || holds(UNCHANGED, base) && base == was)
    {
        return false;
    }
    let by_pronoun = i > 0 && past.words[i - 1].kind == Kind::Little(Family::Pronoun);
    if is.ends_with("ing") {
        now.helped(j) || !past.helped(i)
    } else {
        !past.helped(i) && (is.ends_with('s') || by_pronoun && !is.ends_with("ed"))
    }
}

/// `is being built` against `is built` or `has been built`.
fn is_under_way(now: &Side, j: usize, past: &Side, i: usize) -> bool {
    let being = |side: &Side, at: usize| {
        side.words[at.saturating_sub(3)..at].iter().any(|word| word.text == "being")
    };
    being(now, j)
        && !being(past, i)
        && past.is_done(i)
        && past.words[i].written == now.words[j].written
}
