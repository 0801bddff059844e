//! Rules about differing words.
//!
//! Each rule takes both texts and returns true if they are two facts; one-directional rules are
//! applied in both directions. Not here: rules about the word order (`word_order`).

use crate::duplicate::forms::{bases, is_irregular, is_irregular_plural, meanings};
use crate::duplicate::lexicon::{FunctionWord, UNCHANGED_PAST};
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::{ScannedWord, WordClass};

/// Applies a one-directional rule in both directions.
fn either(a: &PairedText, b: &PairedText, rule: fn(&PairedText, &PairedText) -> bool) -> bool {
    rule(a, b) || rule(b, a)
}

/// Returns true if only one text has a word that makes another fact when it is added.
pub fn added(a: &PairedText, b: &PairedText) -> bool {
    either(a, b, |side, other| {
        side.unpaired().any(|at| {
            let word = &side.words[at];
            let is_another_value = || {
                extends_a_name(side, other, at)
                    || splits_a_compound(side, at)
                    || is_list_item(side, at)
            };
            word.counts_alone() || word.class == WordClass::Content && is_another_value()
        })
    })
}

/// Returns true if the word extends a name of the other text: `React Native` and `React`, `Pixel 8
/// Pro` and `Pixel 8`.
fn extends_a_name(side: &PairedText, other: &PairedText, at: usize) -> bool {
    let is_name_part = |word: &ScannedWord| word.is_capitalised || word.class == WordClass::Number;
    let word = &side.words[at];
    let is_name_in_both = |i: usize| {
        is_name_part(&side.words[i])
            && side.counterparts[i].is_some_and(|j| is_name_part(&other.words[j]))
    };
    word.is_name && word.follows_directly && at > 0 && is_name_in_both(at - 1)
}

/// Returns true if the other text has another part of the same compound: `release-next` and
/// `release`.
fn splits_a_compound(side: &PairedText, at: usize) -> bool {
    let compound = side.words[at].compound;
    compound.is_some()
        && (0..side.words.len())
            .any(|i| side.words[i].compound == compound && side.counterparts[i].is_some())
}

/// Returns true if the word is an item of a list that is shorter in the other text: `Anna, Bob and
/// Carol`, `Anna and Bob`.
fn is_list_item(side: &PairedText, at: usize) -> bool {
    let word = &side.words[at];
    let joined = |i: usize| {
        side.words.get(i).is_some_and(|w| w.class == WordClass::Function(FunctionWord::Conjunction))
            && (word.is_name || side.counterparts[i].is_none())
    };
    let after_commas = at > 1 && !word.follows_directly && !side.words[at - 1].follows_directly;
    after_commas || at > 0 && joined(at - 1) || joined(at + 1)
}

/// Returns true if both texts have a content word, or a symbol, that the other does not have.
pub fn replaced(a: &PairedText, b: &PairedText) -> bool {
    [WordClass::Content, WordClass::Symbol]
        .iter()
        .any(|&kind| a.has_unpaired(kind) && b.has_unpaired(kind))
}

/// Returns true if a function word replaces another of its class, or if `all` or `many` replaces
/// `one`. Prepositions vary too much for this rule: see [`replaced_in_position`].
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
    }) || either(a, b, |side, other| {
        // `one of the replicas`, `all replicas`; but `one person` may be `some person`.
        let is_more_than_one = |word: &ScannedWord| {
            word.class == WordClass::Function(FunctionWord::Quantifier) && word.text != "some"
        };
        side.has_unpaired(WordClass::One)
            && other.unpaired().any(|at| is_more_than_one(&other.words[at]))
    })
}

/// Returns true if, before the same word or at the end, the texts have different prepositions, or
/// one has a value and the other `one`, `every` or `his`.
pub(crate) fn replaced_in_position(a: &PairedText, b: &PairedText) -> bool {
    let is_change = |x: WordClass, y: WordClass| {
        let is_placeholder = |class| {
            matches!(
                class,
                WordClass::Function(FunctionWord::Quantifier | FunctionWord::Pronoun)
                    | WordClass::One
            )
        };
        let preposition = WordClass::Function(FunctionWord::Preposition);
        (x == preposition && y == preposition)
            || is_placeholder(x) && y == WordClass::Content
            || x == WordClass::Content && is_placeholder(y)
    };
    a.unpaired().any(|i| {
        let next = a.next_content(i).map(|next| a.counterparts[next]);
        b.unpaired().any(|j| {
            is_change(a.words[i].class, b.words[j].class) && next == b.next_content(j).map(Some)
        })
    })
}

/// Returns true if two words have exchanged their prepositions or modals: `for Mia on Friday`, `for
/// Friday on Mia`; `must call, may write`. Also if one of them is the origin in one text and the
/// destination in the other: `into the cache on a disk`, `into the disk from a cache`.
pub(crate) fn prepositions_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let replaced: Vec<(&str, &str)> = (0..a.words.len())
        .filter_map(|i| Some((a.governor(i)?, b.governor(a.counterparts[i]?)?)))
        .filter(|(in_a, in_b)| in_a != in_b)
        .collect();
    let is_direction = |word: &str| matches!(word, "from" | "to" | "in");
    let is_reversed = |&(in_a, in_b): &(&str, &str)| {
        in_a == "from" && is_direction(in_b) || in_b == "from" && is_direction(in_a)
    };
    let preposition = WordClass::Function(FunctionWord::Preposition);
    let is_ordered = a.counterparts.iter().flatten().is_sorted();
    replaced.iter().any(|&(in_a, in_b)| replaced.contains(&(in_b, in_a)))
        || replaced.iter().any(is_reversed)
        || !is_ordered && a.has_unpaired(preposition) && b.has_unpaired(preposition)
}

/// Returns true if a negation, or `only`, applies to another word.
pub(crate) fn negation_scope_changed(a: &PairedText, b: &PairedText) -> bool {
    a.words.iter().zip(&a.counterparts).enumerate().any(|(at_a, (word, counterpart))| {
        let has_scope = word.class == WordClass::Negation || word.text == "only";
        let Some(at_b) = counterpart.filter(|_| has_scope) else { return false };
        match (a.next_in_scope(at_a), b.next_in_scope(at_b)) {
            (Some(in_a), Some(in_b)) => {
                a.counterparts[in_a] != Some(in_b) && b.counterparts[in_b] != Some(in_a)
            }
            (in_a, in_b) => in_a != in_b,
        }
    })
}

/// Returns true if a verb is in the past in only one text, or if its action is completed in one and
/// in progress in the other.
pub(crate) fn tense_changed(a: &PairedText, b: &PairedText) -> bool {
    let has_agent =
        |side: &PairedText, other: &PairedText| super::passive::agent(side, other).is_some();
    match (has_agent(a, b), has_agent(b, a)) {
        (true, _) => return is_past_passive_of(a, b),
        (_, true) => return is_past_passive_of(b, a),
        _ => {}
    }
    either(a, b, |past, present| {
        (0..past.words.len()).any(|i| match past.counterparts[i] {
            Some(j) if past.words[i].may_be_a_verb() => {
                is_past_of(past, i, present, j) || is_progressive_passive_of(present, j, past, i)
            }
            _ => false,
        })
    })
}

/// Returns true if a passive is in the past and the active text in the present: `it was sold by
/// Ann`, `Ann sells it`.
fn is_past_passive_of(passive: &PairedText, active: &PairedText) -> bool {
    let is_past = |word: &ScannedWord| {
        word.class == WordClass::Function(FunctionWord::Tense) && word.text == "then"
    };
    let is_present_verb = |(j, word): (usize, &ScannedWord)| {
        word.may_be_a_verb()
            && word.written.ends_with('s')
            && active.counterparts[j]
                .is_some_and(|i| passive.is_passive(i) && passive.words[i].written != word.written)
    };
    passive.words.iter().any(is_past)
        && !active.words.iter().any(is_past)
        && active.words.iter().enumerate().any(is_present_verb)
}

/// Returns true for a past form and a present form: `lived` and `lives`, `was blocked` and `is
/// blocking`, `we used` and `we use`.
fn is_past_of(past: &PairedText, i: usize, present: &PairedText, j: usize) -> bool {
    let (past_form, present_form) =
        (past.words[i].written.as_str(), present.words[j].written.as_str());
    let looks_past = past_form != present_form
        && (past_form.ends_with("ed")
            || is_irregular(past_form) && !past_form.ends_with('s')
            || UNCHANGED_PAST.contains(past_form));
    if !looks_past {
        return false;
    }
    // Also the past of a synonym: `bought` and `purchases`.
    let past_bases: Vec<String> = bases(past_form)[1..].to_vec();
    let is_same_verb = bases(present_form).iter().any(|base| {
        past_bases.contains(base) || UNCHANGED_PAST.contains(base) && base == past_form
    });
    let is_synonym = || {
        let past = meanings(&past_bases);
        !is_irregular_plural(past_form)
            && meanings(&bases(present_form)).iter().any(|one| past.contains(one))
    };
    if !is_same_verb && !is_synonym() {
        return false;
    }
    let is_other_past = || present_form.ends_with("ed") || is_irregular(present_form);
    // Not the noun of `is wearing a shirt with a pattern`.
    let is_finite =
        || present_form.ends_with('s') || !present.words[..j].iter().any(ScannedWord::is_auxiliary);
    if present_form.ends_with("ing") {
        present.has_auxiliary(j) || !past.has_auxiliary(i)
    } else {
        // `has expired` and `expires`.
        let is_perfect =
            past.has_perfect(i) && present_form.ends_with('s') && !present.has_auxiliary(j);
        is_perfect || !past.has_auxiliary(i) && !is_other_past() && is_finite()
    }
}

/// Returns true if a verb is still to do in one text: `has to renew` and `has renewed`, `is to be paid` and `is paid`.
pub(crate) fn infinitive_changed(a: &PairedText, b: &PairedText) -> bool {
    either(a, b, |side, other| {
        (0..side.words.len()).any(|i| {
            let Some(j) = side.counterparts[i] else { return false };
            let is_form = !other.words[j].written.ends_with("ing") && side.words[i].may_be_a_verb();
            is_form && !side.words[i].is_capitalised && side.follows_to(i) && !other.follows_to(j)
        })
    })
}

/// Returns true if only one text has a content word, and a negation, a modal, `all` or `only` in it makes the statement with that word a
/// narrower one: `never run migrations` and `never run migrations by hand`.
pub(crate) fn is_narrower(a: &PairedText, b: &PairedText) -> bool {
    let has_extra = |side: &PairedText| side.has_unpaired(WordClass::Content);
    let is_strict = |word: &ScannedWord| {
        matches!(word.class, WordClass::Negation | WordClass::Function(FunctionWord::Modal))
            || matches!(word.text.as_str(), "all" | "only")
    };
    (has_extra(a) || has_extra(b)) && a.words.iter().chain(&b.words).any(is_strict)
}

/// Returns true if one text is about somebody, and the other about something of theirs: `Kai`, `the daughter of Kai`.
pub(crate) fn head_added(a: &PairedText, b: &PairedText) -> bool {
    either(a, b, |side, _| {
        side.unpaired().any(|head| {
            let of = side.words.get(head + 1).filter(|word| word.text == "of");
            let owner = of.and(side.next_content(head));
            side.words[head].class == WordClass::Content
                && owner.is_some_and(|at| {
                    side.words[at].is_capitalised && side.counterparts[at].is_some()
                })
        })
    })
}

/// Returns true for a passive in progress and a completed one: `is being built` and `is built` or
/// `has been built`.
fn is_progressive_passive_of(present: &PairedText, j: usize, past: &PairedText, i: usize) -> bool {
    let has_being = |side: &PairedText, at: usize| {
        side.words[at.saturating_sub(3)..at].iter().any(|word| word.text == "being")
    };
    has_being(present, j)
        && !has_being(past, i)
        && past.is_passive(i)
        && past.words[i].written == present.words[j].written
}
