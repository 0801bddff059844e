//! Subject and object where one of the two texts is in the passive voice.
//!
//! Not here: roles that follow from the word order alone (`word_order`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::{ScannedWord, WordClass};

/// Returns the agent of a passive whose verb is active, or has another form, in the other text: the
/// word after `by`, or after `in` or `with` as in `covered in`.
pub(crate) fn agent(side: &PairedText, other: &PairedText) -> Option<usize> {
    let is_verb = |i: usize, active: bool| {
        let word = &side.words[i];
        let may_be = word.may_be_a_verb() && !word.written.ends_with("ing");
        side.counterparts[i].filter(|_| may_be).is_some_and(|j| {
            match (active, other.words[j].written == word.written) {
                (true, true) => side.is_passive(i) && !other.is_passive(j),
                (false, false) => side.has_auxiliary(i),
                _ => false,
            }
        })
    };
    let preposition = |i: usize, text: &str| {
        side.words[i].class == WordClass::Function(FunctionWord::Preposition)
            && side.words[i].text == text
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
    let known = |i: usize| {
        side.words[i].class == WordClass::Function(FunctionWord::Pronoun)
            && side.counterparts[i].is_some()
    };
    (before + 1..side.words.len()).find(|&i| !side.words[i].is_function_word() || known(i))
}

/// Returns true if one text says that X was acted on by Y, and the other that X acted on Y: `he was
/// hired by Ruth`, `he hired Ruth`.
pub(crate) fn voice_changed(a: &PairedText, b: &PairedText) -> bool {
    let passive = |side: &PairedText, other: &PairedText| {
        side.unpaired().filter(|&by| side.words[by].text == "by").any(|by| {
            let acts = |word: &ScannedWord| {
                matches!(
                    word.class,
                    WordClass::Content | WordClass::Function(FunctionWord::Pronoun)
                )
            };
            let agent = side
                .next_order_sensitive(by)
                .filter(|&i| acts(&side.words[i]))
                .and_then(|i| side.counterparts[i]);
            let verb = side
                .previous_content(by)
                .filter(|&i| side.words[i].may_be_a_verb())
                .and_then(|i| side.counterparts[i]);
            agent.is_some() && verb.is_some_and(|verb| other.next_order_sensitive(verb) == agent)
        })
    };
    passive(a, b) || passive(b, a)
}

/// Returns whether the agent of the passive comes before the patient in the active text; `None` if
/// it does not occur there.
pub(crate) fn roles_kept(passive: &PairedText, agent: usize) -> Option<bool> {
    let patient = (0..agent).find(|&i| {
        passive.words[i].class != WordClass::Filler && passive.counterparts[i].is_some()
    })?;
    Some(passive.counterparts[agent]? < passive.counterparts[patient]?)
}
