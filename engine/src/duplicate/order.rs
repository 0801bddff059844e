//! What a difference in order means for the fact.
//!
//! Two neighbours that change places say the same (`on Fridays we rest`, `we rest on Fridays`). Two parts that change places
//! round a third do not (`tabs over spaces`, `spaces over tabs`), unless one text is the passive of the other.
//! Deliberately not here: words that stand in one text only (`changes`).

use super::pairing::Side;
use super::word::{Kind, Word};
use super::words::Family;

/// Who does it and to whom it is done have changed places.
pub(super) fn roles_exchanged(a: &Side, b: &Side) -> bool {
    let kept = match (agent(a, b), agent(b, a)) {
        (Some(agent), None) => roles_kept(a, agent),
        (None, Some(agent)) => roles_kept(b, agent),
        _ => None,
    };
    kept.map_or_else(|| turned_round(&places(a, b)), |kept| !kept)
}

/// The agent of a passive whose verb has another form in the other text: the word after `by`, or after `covered in`.
pub(super) fn agent(side: &Side, other: &Side) -> Option<usize> {
    let is_verb = |i: usize| {
        let word = &side.words[i];
        let other_form = side.answers[i].is_some_and(|j| other.words[j].text != word.text);
        word.kind == Kind::Plain && other_form && !word.text.ends_with("ing") && side.helped(i)
    };
    let verb = (0..side.words.len()).find(|&i| is_verb(i))?;
    let preposition = |i: usize, text: &str| side.words[i].kind == Kind::Little(Family::Preposition) && side.words[i].text == text;
    let by = (verb..side.words.len()).find(|&i| preposition(i, "by"));
    let near = (verb + 1..side.words.len()).take(1).find(|&i| preposition(i, "in") || preposition(i, "with"));
    side.next(by.or(near)?)
}

/// Whether the agent of the passive comes first in the active. `None` when it does not occur there.
fn roles_kept(passive: &Side, agent: usize) -> Option<bool> {
    let patient = (0..agent).find(|&i| passive.words[i].kind != Kind::Filler && passive.answers[i].is_some())?;
    Some(passive.answers[agent]? < passive.answers[patient]?)
}

/// The places in the second text of the words of the first that have one and whose order counts.
fn places(a: &Side, b: &Side) -> Vec<usize> {
    let counts = |word: &Word| match word.kind {
        Kind::Little(Family::Preposition) => matches!(word.text.as_str(), "from" | "to" | "over"),
        // `…, said Ann` and `Ann said …` are one.
        _ => !word.is_little() && (word.tied || !matches!(word.text.as_str(), "said" | "says")),
    };
    let both = |i: &usize| counts(&a.words[*i]) && a.answers[*i].is_some_and(|j| counts(&b.words[j]));
    (0..a.words.len()).filter(both).filter_map(|i| a.answers[i]).collect()
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
pub(super) fn numbers_exchanged(a: &Side, b: &Side) -> bool {
    let numbers: Vec<(usize, usize)> =
        (0..a.words.len()).filter(|&i| a.words[i].kind == Kind::Number).filter_map(|i| Some((i, a.answers[i]?))).collect();
    let keeps = |x: Option<usize>, y: Option<usize>| x.and_then(|x| a.answers[x]).is_some_and(|answer| Some(answer) == y);
    let settled = |&(i, j): &(usize, usize)| keeps(a.next(i), b.next(j)) || keeps(a.previous(i), b.previous(j));
    !numbers.is_sorted_by_key(|&(_, j)| j) && !numbers.iter().all(settled)
}
