//! What a difference in order means for the fact.
//!
//! Two neighbours that change places say the same (`on Fridays we rest`, `we rest on Fridays`). Two parts that change places
//! round a third do not (`tabs over spaces`, `spaces over tabs`), unless one text is the passive of the other (`passive`).
//! Deliberately not here: words that stand in one text only (`changes`).

use crate::duplicate::lexicon::Family;
use crate::duplicate::pairing::Side;
use crate::duplicate::passive::{agent, roles_kept};
use crate::duplicate::word::{Kind, Part, Word};

/// Who does it and to whom it is done have changed places.
pub(crate) fn roles_exchanged(a: &Side, b: &Side) -> bool {
    let kept = match (agent(a, b), agent(b, a)) {
        (Some(agent), None) => roles_kept(a, agent),
        (None, Some(agent)) => roles_kept(b, agent),
        _ => None,
    };
    kept.map_or_else(|| turned_round(&places(a, b)), |kept| !kept)
}

/// The places in the second text of the words of the first that have one and whose order counts.
fn places(a: &Side, b: &Side) -> Vec<usize> {
    let flips = a
        .words
        .iter()
        .enumerate()
        .any(|(i, word)| word.part == Part::Copula && is_flipped(a, b, i));
    let counts = |word: &Word| match word.kind {
        Kind::Little(Family::Tense) => word.part == Part::Copula && !flips,
        // `…, said Ann` and `Ann said …` are one.
        _ => word.has_place() && (word.tied || !matches!(word.text.as_str(), "said" | "says")),
    };
    let both =
        |i: &usize| counts(&a.words[*i]) && a.answers[*i].is_some_and(|j| counts(&b.words[j]));
    (0..a.words.len()).filter(both).filter_map(|i| a.answers[i]).collect()
}

/// All that stands before `is` and all that stands after it have changed places, as in `Noor is the nurse`, `the nurse is Noor`.
///
/// Not where each text ends in a mere kind: `the nurse is a singer`, `the singer is a nurse`.
fn is_flipped(a: &Side, b: &Side, at: usize) -> bool {
    let Some(there) = a.answers[at] else { return false };
    let crosses = |(i, answer): (usize, &Option<usize>)| {
        i == at || answer.is_none_or(|j| (i < at) == (j > there))
    };
    let kind = |side: &Side, at: usize| {
        let article =
            side.words.get(at + 1).is_some_and(|word| matches!(word.text.as_str(), "a" | "an"));
        let asks =
            |word: &Word| matches!(word.text.as_str(), "what" | "where" | "how" | "why" | "when");
        let bare = side
            .words
            .get(at + 1)
            .is_some_and(|word| word.kind == Kind::Plain && !word.name && !asks(word));
        article || bare
    };
    a.answers.iter().enumerate().all(crosses) && !(kind(a, at) && kind(b, there))
}

/// Two neighbours have changed places round `of` or an owner's `'s`, or round or after `who`: `who Ann hired`, `who hired Ann`. Or they are
/// names with nothing between them: `tell Ann Bob left`, `tell Bob Ann left`.
pub(crate) fn neighbours_exchanged(a: &Side, b: &Side) -> bool {
    let joined = |side: &Side, x: usize, y: usize| {
        side.words[x].part == Part::Owner
            || (x + 1..y).any(|i| matches!(side.words[i].text.as_str(), "of" | "at" | "as"))
    };
    let opens = |side: &Side, at: usize| {
        matches!(side.words[at].text.as_str(), "who" | "whom" | "which" | "that")
    };
    let opened = |side: &Side, x: usize| x > 0 && opens(side, x - 1);
    let article =
        |side: &Side, at: usize| matches!(side.words[at].text.as_str(), "a" | "an" | "the");
    let tells = |side: &Side, x: usize, y: usize| {
        (x + 1..y).any(|i| opens(side, i))
            || x > 0
                && y == x + 2
                && article(side, x - 1)
                && article(side, x + 1)
                && side.words[y].tied
    };
    let named = |side: &Side, x: usize, y: usize| {
        let is_name = |word: &Word| word.kind == Kind::Plain && word.capital;
        y == x + 1 && is_name(&side.words[x]) && is_name(&side.words[y]) && side.words[y].tied
    };
    (0..a.words.len()).filter(|&x| a.words[x].has_place()).any(|x| {
        let Some((y, there)) = a.next_placed(x).and_then(|y| Some((y, a.answers[y]?))) else {
            return false;
        };
        let exchanged = b.next_placed(there).is_some_and(|next| a.answers[x] == Some(next));
        let other = b.next_placed(there).unwrap_or(there);
        let rules = [
            joined(a, x, y) && joined(b, there, other),
            opened(a, x) && opened(b, there),
            tells(a, x, y) && tells(b, there, other),
            named(a, x, y) && named(b, there, other),
        ];
        exchanged && rules.contains(&true)
    })
}

/// `It replaces Redis`, `Redis replaces it`.
pub(crate) fn it_exchanged(a: &Side, b: &Side) -> bool {
    let is_it = |side: &Side, at: Option<usize>| {
        at.and_then(|at| side.words.get(at)).is_some_and(|word| word.text == "it")
    };
    let does =
        |side: &Side, verb: usize| is_it(side, verb.checked_sub(1)) && !is_it(side, Some(verb + 1));
    let is_done_to =
        |side: &Side, verb: usize| is_it(side, Some(verb + 1)) && !is_it(side, verb.checked_sub(1));
    a.answers.iter().enumerate().filter(|&(i, _)| !a.words[i].is_little()).any(|(i, answer)| {
        answer.is_some_and(|j| does(a, i) && is_done_to(b, j) || is_done_to(a, i) && does(b, j))
    })
}

/// What `if`, `because` or `when` stands before has changed.
pub(crate) fn begins_otherwise(a: &Side, b: &Side) -> bool {
    a.words.iter().zip(&a.answers).enumerate().any(|(here, (word, answer))| {
        let begins = matches!(
            word.text.as_str(),
            "if" | "unless" | "until" | "because" | "when" | "while" | "after" | "before"
        );
        let Some(there) = answer.filter(|_| begins) else { return false };
        match (a.next_placed(here), b.next_placed(there)) {
            (Some(next), Some(other)) => {
                let apart = |x: Option<usize>, y: usize| x.is_some_and(|x| x != y);
                apart(a.answers[next], other) && apart(b.answers[other], next)
            }
            _ => false,
        }
    })
}

/// Three of the places run backwards.
fn turned_round(places: &[usize]) -> bool {
    let mut least_after = vec![usize::MAX; places.len() + 1];
    for at in (0..places.len()).rev() {
        least_after[at] = least_after[at + 1].min(places[at]);
    }
    let mut most_before = 0;
    places.iter().enumerate().any(|(at, &place)| {
        let turned = most_before > place && place > least_after[at + 1];
        most_before = most_before.max(place);
        turned
    })
}

/// Numbers have changed places, and one of them has other neighbours than before.
pub(crate) fn numbers_exchanged(a: &Side, b: &Side) -> bool {
    let numbers: Vec<(usize, usize)> = (0..a.words.len())
        .filter(|&i| a.words[i].kind == Kind::Number)
        .filter_map(|i| Some((i, a.answers[i]?)))
        .collect();
    let keeps = |x: Option<usize>, y: Option<usize>| {
        x.and_then(|x| a.answers[x]).is_some_and(|answer| Some(answer) == y)
    };
    let settled = |&(i, j): &(usize, usize)| {
        keeps(a.next(i), b.next(j)) || keeps(a.previous(i), b.previous(j))
    };
    !numbers.is_sorted_by_key(|&(_, j)| j) && !numbers.iter().all(settled)
}
