//! Rules about differing word order.
//!
//! If two parts are exchanged, the fact stays the same (`on Fridays we rest`, `we rest on
//! Fridays`). If they are exchanged around a third part, it changes (`tabs over spaces`, `spaces
//! over tabs`), unless one text is the passive of the other (`passive`). Not here: words that only
//! one text has (`changes`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::passive::{agent, roles_kept};
use crate::duplicate::word::{ScannedWord, WordClass, WordRole};
use std::ops::Range;

/// Returns true if subject and object are exchanged.
pub(crate) fn roles_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let kept = match (agent(a, b), agent(b, a)) {
        (Some(agent), None) => roles_kept(a, agent),
        (None, Some(agent)) => roles_kept(b, agent),
        _ => None,
    };
    kept.map_or_else(|| has_reversed_parts(a, b), |kept| !kept)
}

/// Returns true if the order is reversed. If all words before and after `is` are exchanged, the
/// order counts only within the two parts: `the job's owner is Kai`, `Kai is the owner of the job`.
fn has_reversed_parts(a: &PairedText, b: &PairedText) -> bool {
    let copula =
        (0..a.words.len()).find(|&i| a.words[i].role == WordRole::Copula && is_flipped(a, b, i));
    match copula {
        Some(copula) => [0..copula, copula + 1..a.words.len()]
            .into_iter()
            .any(|part| has_reversed_triple(&ordered_positions(a, b, part))),
        None => has_reversed_triple(&ordered_positions(a, b, 0..a.words.len())),
    }
}

/// Returns, for the paired words of a part of the first text whose order matters, the positions of
/// their counterparts in the second text.
fn ordered_positions(a: &PairedText, b: &PairedText, part: Range<usize>) -> Vec<usize> {
    let has_order = |word: &ScannedWord| match word.class {
        WordClass::Function(FunctionWord::Tense) => word.role == WordRole::Copula,
        // `…, said Ann` and `Ann said …` state the same fact.
        _ => {
            word.is_order_sensitive()
                && (word.follows_directly || !matches!(word.text.as_str(), "said" | "says"))
        }
    };
    let both_have_order = |i: &usize| {
        has_order(&a.words[*i]) && a.counterparts[*i].is_some_and(|j| has_order(&b.words[j]))
    };
    part.filter(both_have_order).filter_map(|i| a.counterparts[i]).collect()
}

/// Returns true if all words before and after `is` are exchanged, as in `Noor is the nurse`, `the
/// nurse is Noor`.
///
/// False if both texts end with an indefinite noun: `the nurse is a singer`, `the singer is a
/// nurse`.
fn is_flipped(a: &PairedText, b: &PairedText, at: usize) -> bool {
    let Some(at_b) = a.counterparts[at] else { return false };
    let is_exchanged = |(i, counterpart): (usize, &Option<usize>)| {
        i == at || counterpart.is_none_or(|j| (i < at) == (j > at_b))
    };
    let has_indefinite_noun = |side: &PairedText, at: usize| {
        let article =
            side.words.get(at + 1).is_some_and(|word| matches!(word.text.as_str(), "a" | "an"));
        let is_interrogative = |word: &ScannedWord| {
            matches!(word.text.as_str(), "what" | "where" | "how" | "why" | "when")
        };
        let bare_noun = side.words.get(at + 1).is_some_and(|word| {
            word.class == WordClass::Content && !word.is_name && !is_interrogative(word)
        });
        article || bare_noun
    };
    // `the cup is near the jug` does not name one thing twice.
    let has_preposition = |side: &PairedText, at: usize| {
        side.words
            .get(at + 1)
            .is_some_and(|word| word.class == WordClass::Function(FunctionWord::Preposition))
    };
    let is_relation = has_preposition(a, at) || has_preposition(b, at_b);
    let are_indefinite = has_indefinite_noun(a, at) && has_indefinite_noun(b, at_b);
    !is_relation && !are_indefinite && a.counterparts.iter().enumerate().all(is_exchanged)
}

/// Returns true if two neighbouring words are exchanged around `of` or a possessive, around or
/// after `who` (`who Ann hired`, `who hired Ann`), or if they are adjacent names (`tell Ann Bob
/// left`, `tell Bob Ann left`).
pub(crate) fn neighbours_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let is_owner = |side: &PairedText, x: usize| side.words[x].role == WordRole::Possessive;
    let has_between = |side: &PairedText, x: usize, y: usize, words: &[&str]| {
        (x + 1..y).any(|i| words.contains(&side.words[i].text.as_str()))
    };
    let is_genitive =
        |side: &PairedText, x, y| is_owner(side, x) || has_between(side, x, y, &["of", "at", "as"]);
    // `the owner of the job` and `the job's owner` name one owner.
    let is_same_genitive = |side: &PairedText, x, other: &PairedText, z, w| {
        is_owner(side, x) && !is_owner(other, z) && has_between(other, z, w, &["of"])
    };
    let is_relative_pronoun = |side: &PairedText, at: usize| {
        matches!(side.words[at].text.as_str(), "who" | "whom" | "which" | "that")
    };
    let follows_relative_pronoun =
        |side: &PairedText, x: usize| x > 0 && is_relative_pronoun(side, x - 1);
    let is_article =
        |side: &PairedText, at: usize| matches!(side.words[at].text.as_str(), "a" | "an" | "the");
    let spans_clause_start = |side: &PairedText, x: usize, y: usize| {
        (x + 1..y).any(|i| is_relative_pronoun(side, i))
            || x > 0
                && y == x + 2
                && is_article(side, x - 1)
                && is_article(side, x + 1)
                && side.words[y].follows_directly
    };
    let are_adjacent_names = |side: &PairedText, x: usize, y: usize| {
        let is_name = |word: &ScannedWord| word.class == WordClass::Content && word.is_capitalised;
        y == x + 1
            && is_name(&side.words[x])
            && is_name(&side.words[y])
            && side.words[y].follows_directly
    };
    (0..a.words.len()).filter(|&x| a.words[x].is_order_sensitive()).any(|x| {
        let Some((y, y_in_b)) =
            a.next_order_sensitive(x).and_then(|y| Some((y, a.counterparts[y]?)))
        else {
            return false;
        };
        let exchanged =
            b.next_order_sensitive(y_in_b).is_some_and(|next| a.counterparts[x] == Some(next));
        let next_in_b = b.next_order_sensitive(y_in_b).unwrap_or(y_in_b);
        let patterns = [
            is_genitive(a, x, y)
                && is_genitive(b, y_in_b, next_in_b)
                && !is_same_genitive(a, x, b, y_in_b, next_in_b)
                && !is_same_genitive(b, y_in_b, a, x, y),
            follows_relative_pronoun(a, x) && follows_relative_pronoun(b, y_in_b),
            spans_clause_start(a, x, y) && spans_clause_start(b, y_in_b, next_in_b),
            are_adjacent_names(a, x, y) && are_adjacent_names(b, y_in_b, next_in_b),
        ];
        exchanged && patterns.contains(&true)
    })
}

/// Returns true if two words side by side are exchanged, or any around an arrow: `git diff main dev`, `heron → egret`.
pub(crate) fn side_by_side_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let is_arrow = |word: &ScannedWord| word.text == "→";
    let is_exchanged = |y: usize| {
        let (Some(x_in_b), Some(y_in_b)) = (a.counterparts[y - 1], a.counterparts[y]) else {
            return false;
        };
        let is_pair = |side: &PairedText, second: usize| {
            side.words[second].follows_directly
                && side.words[second - 1..=second].iter().all(ScannedWord::may_be_a_verb)
        };
        y_in_b + 1 == x_in_b
            && is_pair(a, y)
            && is_pair(b, x_in_b)
            && a.words[y].written == b.words[y_in_b].written
            && a.words[y - 1].written == b.words[x_in_b].written
    };
    (1..a.words.len()).any(is_exchanged)
        || a.words.iter().any(is_arrow) && !a.counterparts.iter().flatten().is_sorted()
}

/// Returns true if `it` is the subject in one text and the object in the other: `it replaces
/// Redis`, `Redis replaces it`.
pub(crate) fn it_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let is_it = |side: &PairedText, at: Option<usize>| {
        at.and_then(|at| side.words.get(at)).is_some_and(|word| word.text == "it")
    };
    let it_is_subject = |side: &PairedText, verb: usize| {
        is_it(side, verb.checked_sub(1)) && !is_it(side, Some(verb + 1))
    };
    let it_is_object = |side: &PairedText, verb: usize| {
        is_it(side, Some(verb + 1)) && !is_it(side, verb.checked_sub(1))
    };
    a.counterparts.iter().enumerate().filter(|&(i, _)| !a.words[i].is_function_word()).any(
        |(i, counterpart)| {
            counterpart.is_some_and(|j| {
                it_is_subject(a, i) && it_is_object(b, j)
                    || it_is_object(a, i) && it_is_subject(b, j)
            })
        },
    )
}

/// Returns true if `if`, `because`, `when` or a similar conjunction introduces another clause.
pub(crate) fn clause_changed(a: &PairedText, b: &PairedText) -> bool {
    a.words.iter().zip(&a.counterparts).enumerate().any(|(at_a, (word, counterpart))| {
        let is_conjunction = matches!(
            word.text.as_str(),
            "if" | "unless" | "until" | "because" | "when" | "while" | "after" | "before"
        );
        let Some(at_b) = counterpart.filter(|_| is_conjunction) else { return false };
        match (a.next_order_sensitive(at_a), b.next_order_sensitive(at_b)) {
            (Some(next_a), Some(next_b)) => {
                let differs = |x: Option<usize>, y: usize| x.is_some_and(|x| x != y);
                differs(a.counterparts[next_a], next_b) && differs(b.counterparts[next_b], next_a)
            }
            _ => false,
        }
    })
}

/// Returns true if three of the positions are in descending order.
fn has_reversed_triple(positions: &[usize]) -> bool {
    let mut min_after = vec![usize::MAX; positions.len() + 1];
    for at in (0..positions.len()).rev() {
        min_after[at] = min_after[at + 1].min(positions[at]);
    }
    let mut max_before = 0;
    positions.iter().enumerate().any(|(at, &position)| {
        let is_reversed = max_before > position && position > min_after[at + 1];
        max_before = max_before.max(position);
        is_reversed
    })
}

/// Returns true if numbers are exchanged and the neighbours of one of them differ.
pub(crate) fn numbers_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let numbers: Vec<(usize, usize)> = (0..a.words.len())
        .filter(|&i| a.words[i].class == WordClass::Number)
        .filter_map(|i| Some((i, a.counterparts[i]?)))
        .collect();
    let is_pair = |x: Option<usize>, y: Option<usize>| {
        x.and_then(|x| a.counterparts[x]).is_some_and(|counterpart| Some(counterpart) == y)
    };
    let keeps_neighbour = |&(i, j): &(usize, usize)| {
        is_pair(a.next_content(i), b.next_content(j))
            || is_pair(a.previous_content(i), b.previous_content(j))
    };
    !numbers.is_sorted_by_key(|&(_, j)| j) && !numbers.iter().all(keeps_neighbour)
}
