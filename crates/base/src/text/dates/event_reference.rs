//! Events that a query uses as a time reference: "before the release", "since Tomek left". English
//! only. Pure.
//!
//! Not here: the day of the event (`search::query::event_date`), the lower weight of its words
//! (`ranking::late_interaction::down_weight`).

use crate::text::dates::references::DateReferences;
use crate::text::dates::span::Relation;
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use regex::Regex;
use std::sync::LazyLock;

/// A preposition and the text up to the next punctuation mark, which describes the event.
static EVENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(, )?\b(before|until|after|since) ((?:[^,;:.?!()]|\.\w)+)")
        .expect("the pattern compiles")
});
/// Marks a query about something that holds at any time: a rule, a task, a possibility.
static TIMELESS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "must|should|shall|will|would|can|could|may|might|ought|needs?|always|usually|every|each|any|have to|has to|what to|how to";
    Regex::new(&format!(r"\b({words})\b")).expect("the pattern compiles")
});
/// Marks a query about the past.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(did|was|were|had|been|\w{2,}ed)\b").expect("the pattern compiles")
});
/// Auxiliaries of the present tense. A query with one of these and none of [`PAST_AUXILIARY`] asks
/// for the usual order of steps: "what does it send before the handshake".
static PRESENT_AUXILIARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(do|does|is|are)\b").expect("the pattern compiles"));
/// Auxiliaries of the past tense.
static PAST_AUXILIARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(did|was|were|had|been)\b").expect("the pattern compiles"));
/// Past-tense markers of a real event. Excludes participles that also form the present passive ("is
/// sent").
static HAPPENED: LazyLock<Regex> = LazyLock::new(|| {
    let irregular = "came|went|left|broke|began|became|gave|took|ran|saw|spoke|wrote|chose|drove|flew|fell|grew|knew|rose|stood|quit|got";
    Regex::new(&format!(r"\b(did|was|were|had|been|{irregular}|\w{{2,}}ed)\b"))
        .expect("the pattern compiles")
});
/// A gerund: it may describe something that happens repeatedly ("after merging").
static GERUND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\w+ing\b").expect("the pattern compiles"));
/// First words of a phrase that is not an event: "after all", "since when", "it failed before in
/// the importer".
static NO_EVENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(all|that|this|then|when|if|in|with|on|at|about|for|from|by|of)\b")
        .expect("the pattern compiles")
});
/// Words before "after" of a phrase that is not an event: "who looks after the kiln".
static NO_EVENT_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:look(?:s|ed|ing)?|named?|call(?:s|ed)?|ask(?:s|ed)?|tak(?:e|es|ing)|took|search(?:es|ed)?|seek(?:s)?) $")
        .expect("the pattern compiles")
});
/// Words at which the description of the event ends.
const END_WORDS: [&str; 12] =
    ["and", "but", "or", "who", "what", "where", "which", "why", "how", "did", "does", "do"];

/// An event, and the relation of the requested time to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventReference {
    /// How the time lies to the event.
    pub relation: Relation,
    /// The preposition as written: "before", "until", "after" or "since".
    pub preposition: String,
    /// The words that describe the event, in lower case, including stop words.
    pub words: Vec<String>,
}

impl EventReference {
    /// Parses the event that a query uses as a time reference. The first match wins; `None` if the
    /// query also names a time by the calendar or relative to today, which takes precedence, or if
    /// it asks for something that happens at any time.
    pub fn parse(query: &str, today: i32) -> Option<Self> {
        let query = query.to_lowercase();
        let found = EVENT.captures(&query)?;
        let before = found.get(0).map_or("", |whole| &query[..whole.start()]);
        let (preposition, event) = (&found[2], &found[3]);
        let relation = Relation::from_preposition(preposition, before);
        // ", since" gives a reason: "Why is it needed, since the tests run without it?"
        let gives_reason = relation == Relation::Since && found.get(1).is_some();
        if NO_EVENT.is_match(event)
            || preposition == "after" && NO_EVENT_BEFORE.is_match(before)
            || TIMELESS.is_match(&query)
            || is_repeatable(&query, event, relation)
            || !DateReferences::parse(&query, today).is_empty()
            || gives_reason
        {
            return None;
        }
        let words = tokenize::words(event, Grams::Pairs)
            .into_iter()
            .map(|word| tokenize::lower(&event[word]))
            .take_while(|word| !END_WORDS.contains(&word.as_str()))
            .collect();
        Some(Self { relation, preposition: preposition.to_owned(), words })
    }
}

/// Whether the event may happen repeatedly, so that it has no single day.
fn is_repeatable(query: &str, event: &str, relation: Relation) -> bool {
    let happened = HAPPENED.is_match(event);
    let is_general = if event.starts_with("a ") || event.starts_with("an ") {
        !happened
    } else {
        GERUND.is_match(event) && !PAST.is_match(query)
    };
    let is_usual_order = [Relation::Before, Relation::Until].contains(&relation)
        && PRESENT_AUXILIARY.is_match(query)
        && !PAST_AUXILIARY.is_match(query)
        && !happened;
    is_general || is_usual_order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_an_event_ends_with_its_clause() {
        for (question, relation, words) in [
            ("Where was it kept before the release?", Relation::Before, "the release"),
            (
                "Before Anna moved to Warsaw, where did she live?",
                Relation::Before,
                "anna moved to warsaw",
            ),
            (
                "What broke since version 2.1 was released and why?",
                Relation::Since,
                "version 2 1 was released",
            ),
            ("who came after the merger; and who left", Relation::After, "the merger"),
            ("what broke the day after the release", Relation::At, "the release"),
            ("after the release what does the starter plan cost", Relation::After, "the release"),
        ] {
            let event =
                EventReference::parse(question, 0).expect("the question refers to an event");
            assert_eq!(
                (event.relation, event.words.join(" ").as_str()),
                (relation, words),
                "{question}"
            );
        }
        assert_eq!(EventReference::parse("What was released last?", 0), None);
        assert_eq!(EventReference::parse("What comes after?", 0), None);
        assert_eq!(EventReference::parse("Where was it kept in May, before the release?", 0), None);
    }

    #[test]
    fn a_repeatable_event_is_no_time_reference() {
        for question in [
            "What must I do before the release?",
            "which checks should run after merging",
            "what to do before merging",
            "what do we do before merging?",
            "What does he do before a long day?",
            "how do I tell them after every release",
            "did we keep it in Redis after all",
            "since when is it kept in Postgres?",
            "did the deploy fail before with a lock?",
            "Which step was needed before a release?",
            "What does the client send before the handshake?",
            "which token is needed until the handshake is over",
            "Why is Vitest needed, since the tests ran in Jest?",
            "Vad är lösenordet till databasservern?",
        ] {
            assert_eq!(EventReference::parse(question, 0), None, "{question}");
        }
        for question in [
            "What broke after merging the branch was finished?",
            "How was it before a flood came?",
            "How are deployments done before Tomek left?",
            "What does the client send since the handshake changed?",
        ] {
            assert!(EventReference::parse(question, 0).is_some(), "{question}");
        }
    }
}
