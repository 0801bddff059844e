//! The rules for one sentence: a preference is an order in general, a decision says who decided what. Pure.

use super::attempts;
use super::pointers::{depends_on_context, words};
use super::statement::{Speaker, Statement};

/// Characters of a statement.
const CHARS: std::ops::RangeInclusive<usize> = 14..=280;
/// Words of a statement.
const WORDS: std::ops::RangeInclusive<usize> = 3..=45;
/// Beginnings that say nothing.
const FILLERS: [&str; 15] = [
    "please", "also", "and", "ok", "okay", "but", "so", "hey", "no,", "yes,", "btw", "note:", "oh",
    "well,", "right,",
];
/// Beginnings of a preference that end with "always" or "never".
const GENERAL: [&str; 15] = [
    "",
    "i ",
    "we ",
    "you should ",
    "you must ",
    "we should ",
    "we must ",
    "remember to ",
    "make sure to ",
    "make sure you ",
    "make sure that you ",
    "be sure to ",
    "i want you to ",
    "i'd like you to ",
    "you are to ",
];
/// Other beginnings of a preference.
const PREFERENCES: [&str; 10] = [
    "don't ever ",
    "do not ever ",
    "from now on",
    "going forward",
    "in future",
    "in the future",
    "i prefer ",
    "we prefer ",
    "prefer ",
    "remember: ",
];
/// Beginning of a preference only before a noun without article: "i like short answers".
const LIKING: &str = "i like ";
/// Beginnings of a preference only in a sentence that names an alternative.
const CHOICES: [&str; 5] = ["use ", "don't use ", "do not use ", "we use ", "avoid "];
/// What introduces the alternative.
const ALTERNATIVES: [&str; 7] =
    [" instead of ", ", not ", " rather than ", ", never ", " over ", " instead", ", ever"];
/// Words after "always" and "never" that name no action that a person could want: remarks and states.
const NO_ACTIONS: [&str; 59] = [
    "mind",
    "fine",
    "ok",
    "okay",
    "good",
    "bad",
    "true",
    "false",
    "right",
    "wrong",
    "been",
    "be",
    "had",
    "have",
    "has",
    "was",
    "were",
    "is",
    "are",
    "am",
    "a",
    "an",
    "the",
    "in",
    "on",
    "at",
    "said",
    "saw",
    "seen",
    "heard",
    "got",
    "get",
    "went",
    "knew",
    "know",
    "thought",
    "came",
    "made",
    "took",
    "wrote",
    "gave",
    "found",
    "told",
    "ran",
    "meant",
    "did",
    "forget",
    "understood",
    "see",
    "understand",
    "feel",
    "felt",
    "think",
    "need",
    "wonder",
    "lose",
    "lost",
    "happy",
    "sure",
];
/// Words that end as a third person or a past, and are plain verbs.
const PLAIN_VERBS: [&str; 14] = [
    "feed", "embed", "seed", "speed", "proceed", "succeed", "exceed", "bring", "ping", "string",
    "alias", "focus", "canvas", "bias",
];
/// Who decides: before "decided" and "agreed".
const DECIDERS: [&str; 8] =
    ["we ", "we've ", "we have ", "we both ", "the team ", "the team has ", "i ", "i've "];
/// What deciders do.
const DECISIONS: [&str; 9] = [
    "decided ",
    "agreed ",
    "chose ",
    "settled on ",
    "opted for ",
    "are going with ",
    "will use ",
    "'ll use ",
    "picked ",
];
/// Beginnings of a decision without who decides.
const LABELS: [&str; 7] = [
    "decision: ",
    "decided: ",
    "agreed: ",
    "we're going with ",
    "we'll go with ",
    "let's go with ",
    "we'll use ",
];
/// Beginnings after which a single small word says too little: "let's go with blue".
const TERSE: [&str; 3] = ["let's go with ", "we'll go with ", "we're going with "];
/// Words that leave a decision open.
const HEDGES: [&str; 10] = [
    "might", "maybe", "perhaps", "probably", "would", "could", "whether", "nothing", "disagree",
    "unless",
];

/// Returns what a sentence states.
pub(super) fn of_sentence(raw: &str, speaker: Speaker) -> Option<Statement> {
    let plain = raw.replace("**", "").replace("__", "");
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '_' | '"');
    let mut sentence = plain.trim_matches(is_mark);
    let mut lower = lower_case(sentence);
    while let Some(filler) = FILLERS.iter().find(|filler| starts_with_word(&lower, filler)) {
        // Some lower-case letters have another length than the upper-case ones.
        sentence = sentence.get(filler.len()..)?.trim_start_matches([' ', ',', ':']);
        lower = lower_case(sentence);
    }
    let count = sentence.split_whitespace().count();
    let is_sized = CHARS.contains(&sentence.chars().count()) && WORDS.contains(&count);
    if !is_sized || sentence.ends_with(['?', ':', ',']) {
        return None;
    }
    let text = sentence.to_owned();
    if let Some(why) = attempts::reason(sentence) {
        return Some(Statement::Attempt { text, why });
    }
    if depends_on_context(&lower) {
        return None;
    }
    if is_decision(&lower, sentence, speaker) {
        return Some(Statement::Decision(text));
    }
    (speaker == Speaker::User && is_preference(&lower)).then_some(Statement::Preference(text))
}

fn lower_case(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
}

fn starts(text: &str, list: &[&str]) -> bool {
    list.iter().any(|start| text.starts_with(start))
}

fn is_preference(lower: &str) -> bool {
    if let Some(order) = general_order(lower) {
        return names_action(order);
    }
    if let Some(rest) = lower.strip_prefix(LIKING) {
        let first = words(rest).next().unwrap_or_default();
        return !["the", "your", "how", "a", "an", "to", "what", "where", "my"].contains(&first);
    }
    if let Some(rest) = lower.strip_prefix("remember that ") {
        return words(rest).count() >= 3;
    }
    starts(lower, &PREFERENCES) || (starts(lower, &CHOICES) && names_alternative(lower))
}

/// Returns what follows "always" or "never" in an order.
fn general_order(lower: &str) -> Option<&str> {
    GENERAL.iter().find_map(|start| {
        let rest = lower.strip_prefix(start)?;
        rest.strip_prefix("always ").or_else(|| rest.strip_prefix("never "))
    })
}

/// Returns whether a text begins with a verb in its plain form, as an order does.
fn names_action(order: &str) -> bool {
    let Some(verb) = words(order).find(|word| !["ever", "please", "just", "only"].contains(word))
    else {
        return false;
    };
    let is_inflected = (verb.ends_with('s') && !verb.ends_with("ss"))
        || verb.ends_with("ed")
        || verb.ends_with("ing");
    let starts_with_comma = order.trim_start().starts_with(',');
    !starts_with_comma
        && !NO_ACTIONS.contains(&verb)
        && (!is_inflected || PLAIN_VERBS.contains(&verb))
}

/// Returns whether a choice names something general instead of something general: "the …" is something at hand.
fn names_alternative(lower: &str) -> bool {
    let is_at_hand = |text: &str| text.trim_start().starts_with("the ");
    let object = CHOICES.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or_default();
    let mut alternatives =
        ALTERNATIVES.iter().filter_map(|mark| lower.split_once(mark)).map(|(_, rest)| rest);
    let names_thing =
        |rest: &str| !is_at_hand(rest.strip_prefix(" of").unwrap_or(rest)) && !is_at_hand(object);
    let first = alternatives.next();
    first.is_some_and(names_thing) && alternatives.all(names_thing)
}

fn is_decision(lower: &str, sentence: &str, speaker: Speaker) -> bool {
    let claim = lower.split(" because ").next().unwrap_or(lower);
    if words(claim).any(|word| HEDGES.contains(&word)) {
        return false;
    }
    if let Some(start) = LABELS.iter().find(|start| lower.starts_with(**start)) {
        return !TERSE.contains(start) || says_enough(sentence.get(start.len()..));
    }
    let decider = DECIDERS
        .iter()
        .find(|decider| lower.strip_prefix(**decider).is_some_and(|rest| starts(rest, &DECISIONS)));
    let is_of_one = decider.is_some_and(|decider| decider.starts_with('i'));
    // An agent also tells by "I decided" what it does next; a decision that lasts has a reason.
    decider.is_some() && !(speaker == Speaker::Agent && is_of_one && !has_reason(lower))
}

fn has_reason(lower: &str) -> bool {
    [" because ", " since ", " so that "].iter().any(|mark| lower.contains(mark))
}

/// Returns whether what is chosen is a name, or more than one word.
fn says_enough(chosen: Option<&str>) -> bool {
    let chosen: Vec<&str> = words(chosen.unwrap_or_default()).collect();
    let is_name = |word: &&str| word.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
    chosen.len() > 1 || chosen.first().is_some_and(is_name)
}
