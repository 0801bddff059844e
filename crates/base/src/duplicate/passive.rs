//! Rules about subject and object if one of the texts is in the passive voice.
//!
//! Not here: rules about the word order of two active texts (`word_order`).

use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::{ScannedWord, WordClass};

/// Returns the agent of a passive whose verb is active, or has another form, in the other text: the
/// word after `by`.
pub fn agent(side: &PairedText, other: &PairedText) -> Option<usize> {
    // With `same_form`, a verb of the same form that is active in the other text; else a verb of
    // another form.
    let is_passive_verb = |i: usize, same_form: bool| {
        let word = &side.words[i];
        let may_be_verb = word.may_be_a_verb() && !word.written.ends_with("ing");
        side.counterparts[i].filter(|_| may_be_verb).is_some_and(|j| {
            match (same_form, other.words[j].written == word.written) {
                (true, true) => side.is_passive(i) && !other.is_passive(j),
                (false, false) => side.has_auxiliary(i),
                _ => false,
            }
        })
    };
    let verb = |same_form: bool| (0..side.words.len()).find(|&i| is_passive_verb(i, same_form));
    let by_after = |verb: usize| (verb..side.words.len()).find(|&i| side.words[i].text == "by");
    let by = verb(false).and_then(by_after).or_else(|| verb(true).and_then(by_after))?;
    let is_paired_pronoun = |i: usize| {
        side.words[i].class == WordClass::Function(FunctionWord::Pronoun)
            && side.counterparts[i].is_some()
    };
    (by + 1..side.words.len()).find(|&i| !side.words[i].is_function_word() || is_paired_pronoun(i))
}

/// Returns true if one text says that X was acted on by Y, and the other that X acted on Y: `he was
/// hired by Ruth`, `he hired Ruth`.
pub(crate) fn voice_changed(a: &PairedText, b: &PairedText) -> bool {
    let is_active_in_other = |side: &PairedText, other: &PairedText| {
        side.unpaired().filter(|&by| side.words[by].text == "by").any(|by| {
            let may_act = |word: &ScannedWord| {
                matches!(
                    word.class,
                    WordClass::Content | WordClass::Function(FunctionWord::Pronoun)
                )
            };
            let agent = side
                .next_order_sensitive(by)
                .filter(|&i| may_act(&side.words[i]))
                .and_then(|i| side.counterparts[i]);
            let verb = side
                .previous_content(by)
                .filter(|&i| side.words[i].may_be_a_verb())
                .and_then(|i| side.counterparts[i]);
            agent.is_some() && verb.is_some_and(|verb| other.next_order_sensitive(verb) == agent)
        })
    };
    is_active_in_other(a, b) || is_active_in_other(b, a)
}

/// Returns whether the agent of the passive comes before the patient in the active text; `None` if
/// one of them has no counterpart there.
pub(crate) fn roles_kept(passive: &PairedText, agent: usize) -> Option<bool> {
    let patient = (0..agent).find(|&i| {
        passive.words[i].class != WordClass::Filler && passive.counterparts[i].is_some()
    })?;
    Some(passive.counterparts[agent]? < passive.counterparts[patient]?)
}
