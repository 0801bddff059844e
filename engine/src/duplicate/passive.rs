//! Who does it and to whom it is done, where one text is passive.
//!
//! Deliberately not here: roles told by the order alone (`order`).

use crate::duplicate::lexicon::Family;
use crate::duplicate::pairing::Side;
use crate::duplicate::word::{Kind, Word};

/// The agent of a passive whose verb is active, or has another form, in the other text: the word after `by`, or after `covered in`.
pub(crate) fn agent(side: &Side, other: &Side) -> Option<usize> {
    let is_verb = |i: usize, active: bool| {
        let word = &side.words[i];
        let may_be = word.may_be_a_verb() && !word.written.ends_with("ing");
        side.answers[i].filter(|_| may_be).is_some_and(|j| {
            match (active, other.words[j].written == word.written) {
                (true, true) => side.is_done(i) && !other.is_done(j),
                (false, false) => side.helped(i),
                _ => false,
            }
        })
    };
    let preposition = |i: usize, text: &str| {
        side.words[i].kind == Kind::Little(Family::Preposition) && side.words[i].text == text
    };
    let by = |verb: usize| (verb..side.words.len()).find(|&i| preposition(i, "by"));
    let near = |verb: usize| {
        (verb + 1..side.words.len())
            .take(1)
            .find(|&i| preposition(i, "in") || preposition(i, "with"))
    };
    let verb = |active: bool| (0..side.words.len()).find(|&i| is_verb(i, active));
    let before =
        verb(false).and_then(|verb| by(verb).or(near(verb))).or_else(|| verb(true).and_then(by))?;
    let known =
        |i: usize| side.words[i].kind == Kind::Little(Family::Pronoun) && side.answers[i].is_some();
    (before + 1..side.words.len()).find(|&i| !side.words[i].is_little() || known(i))
}

/// `He was hired by Ruth` in one text, `he hired Ruth` in the other.
pub(crate) fn done_or_does(a: &Side, b: &Side) -> bool {
    let passive = |side: &Side, other: &Side| {
        side.alone().filter(|&by| side.words[by].text == "by").any(|by| {
            let acts =
                |word: &Word| matches!(word.kind, Kind::Plain | Kind::Little(Family::Pronoun));
            let agent = side
                .next_placed(by)
                .filter(|&i| acts(&side.words[i]))
                .and_then(|i| side.answers[i]);
            let verb = side
                .previous(by)
                .filter(|&i| side.words[i].may_be_a_verb())
                .and_then(|i| side.answers[i]);
            agent.is_some() && verb.is_some_and(|verb| other.next_placed(verb) == agent)
        })
    };
    passive(a, b) || passive(b, a)
}

/// Whether the agent of the passive comes first in the active. `None` when it does not occur there.
pub(crate) fn roles_kept(passive: &Side, agent: usize) -> Option<bool> {
    let patient = (0..agent)
        .find(|&i| passive.words[i].kind != Kind::Filler && passive.answers[i].is_some())?;
    Some(passive.answers[agent]? < passive.answers[patient]?)
}
