//! Rules about differing word order.
//!
//! Two parts that only swap keep the fact (`on Fridays we rest`, `we rest on Fridays`). Two parts
//! that swap around a third change it (`tabs over spaces`, `spaces over tabs`), unless one text is
//! the passive of the other (`passive`). Not here: words that only one text has (`changes`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::passive::{agent, roles_kept};
use crate::duplicate::word::{ScannedWord, WordClass, WordRole};

/// Returns true if subject and object are exchanged.
pub(crate) fn roles_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let kept = match (agent(a, b), agent(b, a)) {
        (Some(agent), None) => roles_kept(a, agent),
        (None, Some(agent)) => roles_kept(b, agent),
        _ => None,
    };
    kept.map_or_else(|| has_reversed_triple(&ordered_positions(a, b)), |kept| !kept)
}

/// Returns the positions in the second text of the first text's paired words whose order matters.
fn ordered_positions(a: &PairedText, b: &PairedText) -> Vec<usize> {
    let flips = a
        .words
        .iter()
        .enumerate()
        .any(|(i, word)| word.role == WordRole::Copula && is_flipped(a, b, i));
    let counts = |word: &ScannedWord| match word.class {
        WordClass::Function(FunctionWord::Tense) => word.role == WordRole::Copula && !flips,
        // `…, said Ann` and `Ann said …` are the same.
        _ => {
            word.is_order_sensitive()
                && (word.follows_directly || !matches!(word.text.as_str(), "said" | "says"))
        }
    };
    let both =
        |i: &usize| counts(&a.words[*i]) && a.counterparts[*i].is_some_and(|j| counts(&b.words[j]));
    (0..a.words.len()).filter(both).filter_map(|i| a.counterparts[i]).collect()
}

/// Returns true if all words before and after `is` are exchanged, as in `Noor is the nurse`, `the
/// nurse is Noor`.
///
/// Not if both texts end with an indefinite noun: `the nurse is a singer`, `the singer is a nurse`.
fn is_flipped(a: &PairedText, b: &PairedText, at: usize) -> bool {
    let Some(there) = a.counterparts[at] else { return false };
    let crosses = |(i, counterpart): (usize, &Option<usize>)| {
        i == at || counterpart.is_none_or(|j| (i < at) == (j > there))
    };
    let kind = |side: &PairedText, at: usize| {
        let article =
            side.words.get(at + 1).is_some_and(|word| matches!(word.text.as_str(), "a" | "an"));
        let asks = |word: &ScannedWord| {
            matches!(word.text.as_str(), "what" | "where" | "how" | "why" | "when")
        };
        let bare = side
            .words
            .get(at + 1)
            .is_some_and(|word| word.class == WordClass::Content && !word.name && !asks(word));
        article || bare
    };
    a.counterparts.iter().enumerate().all(crosses) && !(kind(a, at) && kind(b, there))
}

/// Returns true if two neighbours are exchanged around `of` or a possessive, or around or after
/// `who` (`who Ann hired`, `who hired Ann`), or if they are adjacent names: `tell Ann Bob left`,
/// `tell Bob Ann left`.
pub(crate) fn neighbours_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let joined = |side: &PairedText, x: usize, y: usize| {
        side.words[x].role == WordRole::Possessive
            || (x + 1..y).any(|i| matches!(side.words[i].text.as_str(), "of" | "at" | "as"))
    };
    let opens = |side: &PairedText, at: usize| {
        matches!(side.words[at].text.as_str(), "who" | "whom" | "which" | "that")
    };
    let opened = |side: &PairedText, x: usize| x > 0 && opens(side, x - 1);
    let article =
        |side: &PairedText, at: usize| matches!(side.words[at].text.as_str(), "a" | "an" | "the");
    let tells = |side: &PairedText, x: usize, y: usize| {
        (x + 1..y).any(|i| opens(side, i))
            || x > 0
                && y == x + 2
                && article(side, x - 1)
                && article(side, x + 1)
                && side.words[y].follows_directly
    };
    let named = |side: &PairedText, x: usize, y: usize| {
        let is_name = |word: &ScannedWord| word.class == WordClass::Content && word.capital;
        y == x + 1
            && is_name(&side.words[x])
            && is_name(&side.words[y])
            && side.words[y].follows_directly
    };
    (0..a.words.len()).filter(|&x| a.words[x].is_order_sensitive()).any(|x| {
        let Some((y, there)) =
            a.next_order_sensitive(x).and_then(|y| Some((y, a.counterparts[y]?)))
        else {
            return false;
        };
        let exchanged =
            b.next_order_sensitive(there).is_some_and(|next| a.counterparts[x] == Some(next));
        let other = b.next_order_sensitive(there).unwrap_or(there);
        let rules = [
            joined(a, x, y) && joined(b, there, other),
            opened(a, x) && opened(b, there),
            tells(a, x, y) && tells(b, there, other),
            named(a, x, y) && named(b, there, other),
        ];
        exchanged && rules.contains(&true)
    })
}

/// Returns true if `it` is the subject in one text and the object in the other: `it replaces
/// Redis`, `Redis replaces it`.
pub(crate) fn it_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let is_it = |side: &PairedText, at: Option<usize>| {
        at.and_then(|at| side.words.get(at)).is_some_and(|word| word.text == "it")
    };
    let does = |side: &PairedText, verb: usize| {
        is_it(side, verb.checked_sub(1)) && !is_it(side, Some(verb + 1))
    };
    let is_done_to = |side: &PairedText, verb: usize| {
        is_it(side, Some(verb + 1)) && !is_it(side, verb.checked_sub(1))
    };
    a.counterparts.iter().enumerate().filter(|&(i, _)| !a.words[i].is_function_word()).any(
        |(i, counterpart)| {
            counterpart
                .is_some_and(|j| does(a, i) && is_done_to(b, j) || is_done_to(a, i) && does(b, j))
        },
    )
}

/// Returns true if `if`, `because`, `when` or a similar conjunction introduces another clause.
pub(crate) fn clause_changed(a: &PairedText, b: &PairedText) -> bool {
    a.words.iter().zip(&a.counterparts).enumerate().any(|(here, (word, counterpart))| {
        let begins = matches!(
            word.text.as_str(),
            "if" | "unless" | "until" | "because" | "when" | "while" | "after" | "before"
        );
        let Some(there) = counterpart.filter(|_| begins) else { return false };
        match (a.next_order_sensitive(here), b.next_order_sensitive(there)) {
            (Some(next), Some(other)) => {
                let apart = |x: Option<usize>, y: usize| x.is_some_and(|x| x != y);
                apart(a.counterparts[next], other) && apart(b.counterparts[other], next)
            }
            _ => false,
        }
    })
}

/// Returns true if three of the positions are in descending order.
fn has_reversed_triple(positions: &[usize]) -> bool {
    let mut least_after = vec![usize::MAX; positions.len() + 1];
    for at in (0..positions.len()).rev() {
        least_after[at] = least_after[at + 1].min(positions[at]);
    }
    let mut most_before = 0;
    positions.iter().enumerate().any(|(at, &place)| {
        let turned = most_before > place && place > least_after[at + 1];
        most_before = most_before.max(place);
        turned
    })
}

/// Returns true if numbers are exchanged and one of them has other neighbours.
pub(crate) fn numbers_exchanged(a: &PairedText, b: &PairedText) -> bool {
    let numbers: Vec<(usize, usize)> = (0..a.words.len())
        .filter(|&i| a.words[i].class == WordClass::Number)
        .filter_map(|i| Some((i, a.counterparts[i]?)))
        .collect();
    let keeps = |x: Option<usize>, y: Option<usize>| {
        x.and_then(|x| a.counterparts[x]).is_some_and(|counterpart| Some(counterpart) == y)
    };
    let keeps_neighbour = |&(i, j): &(usize, usize)| {
        keeps(a.next_content(i), b.next_content(j))
            || keeps(a.previous_content(i), b.previous_content(j))
    };
    !numbers.is_sorted_by_key(|&(_, j)| j) && !numbers.iter().all(keeps_neighbour)
}
