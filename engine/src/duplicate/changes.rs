//! Rules about differing words.
//!
//! Each rule takes both texts and returns true if they are two facts; one-directional rules are
//! applied in both directions. Not here: rules about the word order (`word_order`).

use crate::duplicate::forms::{bases, is_irregular};
use crate::duplicate::lexicon::{FunctionWord, UNCHANGED_PAST};
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::{ScannedWord, WordClass};

/// Applies a one-directional rule in both directions.
fn either(a: &PairedText, b: &PairedText, rule: fn(&PairedText, &PairedText) -> bool) -> bool {
    rule(a, b) || rule(b, a)
}

/// Returns true if only one text has a word that is a fact by itself.
pub(crate) fn added(a: &PairedText, b: &PairedText) -> bool {
    either(a, b, |side, other| {
        side.unpaired().any(|at| {
            let word = &side.words[at];
            let names_another = || {
                extends_a_name(side, other, at)
                    || splits_a_compound(side, at)
                    || is_list_item(side, at)
            };
            word.counts_alone() || word.class == WordClass::Content && names_another()
        })
    })
}

/// Returns true if the word extends a name of the other text: `React Native` and `React`, `Pixel 8
/// Pro` and `Pixel 8`.
fn extends_a_name(side: &PairedText, other: &PairedText, at: usize) -> bool {
    let named = |word: &ScannedWord| word.capital || word.class == WordClass::Number;
    let word = &side.words[at];
    let known = |i: usize| {
        named(&side.words[i]) && side.counterparts[i].is_some_and(|j| named(&other.words[j]))
    };
    word.name && word.follows_directly && at > 0 && known(at - 1)
}

/// Returns true if the other text has another part of the same compound: `release-next` and
/// `release`.
fn splits_a_compound(side: &PairedText, at: usize) -> bool {
    let compound = side.words[at].compound;
    compound.is_some()
        && (0..side.words.len())
            .any(|i| side.words[i].compound == compound && side.counterparts[i].is_some())
}

/// Returns true if the word is an item of a list: `Anna, Bob and Carol`, where the other text has
/// two of them.
fn is_list_item(side: &PairedText, at: usize) -> bool {
    let word = &side.words[at];
    let joined = |i: usize| {
        side.words.get(i).is_some_and(|w| w.class == WordClass::Function(FunctionWord::Conjunction))
            && (word.name || side.counterparts[i].is_none())
    };
    let after_commas = at > 1 && !word.follows_directly && !side.words[at - 1].follows_directly;
    after_commas || at > 0 && joined(at - 1) || joined(at + 1)
}

/// Returns true if both texts have a content word, or a symbol, that the other does not have.
pub(crate) fn replaced(a: &PairedText, b: &PairedText) -> bool {
    [WordClass::Content, WordClass::Symbol]
        .iter()
        .any(|&kind| a.has_unpaired(kind) && b.has_unpaired(kind))
}

/// Returns true if a function word replaces another of its class. Prepositions vary too much for
/// this rule: see [`replaced_in_position`].
pub(crate) fn function_word_changed(a: &PairedText, b: &PairedText) -> bool {
    [
        FunctionWord::Conjunction,
        FunctionWord::Modal,
        FunctionWord::Pronoun,
        FunctionWord::Quantifier,
        FunctionWord::Tense,
    ]
    .iter()
    .any(|&class| {
        a.has_unpaired(WordClass::Function(class)) && b.has_unpaired(WordClass::Function(class))
    })
}

/// Returns true if before the same word, or at the end, one text has another preposition, or a
/// value instead of `one`, `every`, `his`.
pub(crate) fn replaced_in_position(a: &PairedText, b: &PairedText) -> bool {
    let changes = |x: WordClass, y: WordClass| {
        let counts = |kind| {
            matches!(
                kind,
                WordClass::Function(FunctionWord::Quantifier | FunctionWord::Pronoun)
                    | WordClass::One
            )
        };
        let preposition = WordClass::Function(FunctionWord::Preposition);
        (x == preposition && y == preposition)
            || counts(x) && y == WordClass::Content
            || x == WordClass::Content && counts(y)
    };
    a.unpaired().any(|i| {
        let before = a.next_content(i).map(|next| a.counterparts[next]);
        b.unpaired().any(|j| {
            changes(a.words[i].class, b.words[j].class) && before == b.next_content(j).map(Some)
        })
    })
}

/// Returns true if two words have exchanged their prepositions or modals: `for Mia on Friday`, `for
/// Friday on Mia`; `must call, may write`.
pub(crate) fn prepositions_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let changes: Vec<(&str, &str)> = (0..a.words.len())
        .filter_map(|i| Some((a.governor(i)?, b.governor(a.counterparts[i]?)?)))
        .filter(|(here, there)| here != there)
        .collect();
    changes.iter().any(|&(here, there)| changes.contains(&(there, here)))
}

/// Returns true if a negation, or `only`, applies to another word.
pub(crate) fn negation_scope_changed(a: &PairedText, b: &PairedText) -> bool {
    a.words.iter().zip(&a.counterparts).enumerate().any(|(here, (word, counterpart))| {
        let binds = word.class == WordClass::Negation || word.text == "only";
        let Some(there) = counterpart.filter(|_| binds) else { return false };
        match (a.next_in_scope(here), b.next_in_scope(there)) {
            (Some(bound), Some(other)) => {
                a.counterparts[bound] != Some(other) && b.counterparts[other] != Some(bound)
            }
            (bound, other) => bound != other,
        }
    })
}

/// Returns true if one text names a person where the other has only a pronoun or `user`.
pub(crate) fn person_changed(a: &PairedText, b: &PairedText) -> bool {
    either(a, b, |side, other| {
        let unknown = |word: &ScannedWord| {
            word.class == WordClass::Function(FunctionWord::Pronoun)
                && !other.words.iter().any(|w| w.class == word.class && w.text == word.text)
        };
        other.has_unpaired(WordClass::Content) && side.unpaired().any(|i| unknown(&side.words[i]))
    })
}

/// Returns true if a verb is in the past in only one text, or completed in one and in progress in
/// the other.
pub(crate) fn tense_changed(a: &PairedText, b: &PairedText) -> bool {
    if super::passive::agent(a, b).or_else(|| super::passive::agent(b, a)).is_some() {
        return false;
    }
    either(a, b, |past, now| {
        (0..past.words.len()).any(|i| match past.counterparts[i] {
            Some(j) if past.words[i].may_be_a_verb() => {
                is_past_of(past, i, now, j) || is_progressive_passive_of(now, j, past, i)
            }
            _ => false,
        })
    })
}

/// Returns true for a past form and a present form: `lived` and `lives`, `was blocked` and `is
/// blocking`, `we used` and `we use`.
fn is_past_of(past: &PairedText, i: usize, now: &PairedText, j: usize) -> bool {
    let (was, is) = (past.words[i].written.as_str(), now.words[j].written.as_str());
    let looks_past = was != is
        && (was.ends_with("ed")
            || is_irregular(was) && !was.ends_with('s')
            || UNCHANGED_PAST.contains(was));
    if !looks_past
        || !bases(is).iter().any(|base| {
            bases(was)[1..].contains(base) || UNCHANGED_PAST.contains(base) && base == was
        })
    {
        return false;
    }
    let by_pronoun = i > 0 && past.words[i - 1].class == WordClass::Function(FunctionWord::Pronoun);
    if is.ends_with("ing") {
        now.has_auxiliary(j) || !past.has_auxiliary(i)
    } else {
        !past.has_auxiliary(i) && (is.ends_with('s') || by_pronoun && !is.ends_with("ed"))
    }
}

/// Returns true for a passive in progress and a completed one: `is being built` and `is built` or
/// `has been built`.
fn is_progressive_passive_of(now: &PairedText, j: usize, past: &PairedText, i: usize) -> bool {
    let being = |side: &PairedText, at: usize| {
        side.words[at.saturating_sub(3)..at].iter().any(|word| word.text == "being")
    };
    being(now, j)
        && !being(past, i)
        && past.is_passive(i)
        && past.words[i].written == now.words[j].written
}
