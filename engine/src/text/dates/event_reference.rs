//! Times that a question tells by what happened: "before the release", "since Tomek left". English alone. Pure.
//!
//! Not here: on which day it happened (`search::happened`).

use crate::ranking::late_interaction::word_match::Word;
use crate::text::dates::Times;
use crate::text::dates::span::Side;
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use regex::Regex;
use std::sync::LazyLock;

/// From the word that tells the side as far as what happened may go.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(, )?\b(before|until|after|since) ((?:[^,;:.?!()]|\.\w)+)").expect("is a pattern")
});
/// Who asks so asks what to do, or what would be, whenever it is.
static ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "must|should|shall|will|would|can|could|may|might|ought|needs?|always|usually|every|each|any|have to|has to|what to|how to";
    Regex::new(&format!(r"\b({words})\b")).expect("is a pattern")
});
/// Who asks so asks for what was.
static PAST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(did|was|were|had|been|\w{2,}ed)\b").expect("is a pattern"));
/// Who asks so, and not for what was, asks for what comes first whenever it is: "what does it send before the handshake".
static IS_SO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(do|does|is|are)\b").expect("is a pattern"));
static WAS_SO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(did|was|were|had|been)\b").expect("is a pattern"));
/// What has such a word did happen. None that may also stand in "is sent".
static DID: LazyLock<Regex> = LazyLock::new(|| {
    let irregular = "came|went|left|broke|began|became|gave|took|ran|saw|spoke|wrote|chose|drove|flew|fell|grew|knew|rose|stood|quit|got";
    Regex::new(&format!(r"\b(did|was|were|had|been|{irregular}|\w{{2,}}ed)\b"))
        .expect("is a pattern")
});
/// What begins so may happen at any time: "after merging".
static ANY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\w+ing\b").expect("is a pattern"));
/// What begins so did not happen: "after all", "since when", "it failed before in the importer".
static NEVER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(all|that|this|then|when|if|in|with|on|at|about|for|from|by|of)\b")
        .expect("is a pattern")
});
/// What its words count among those of the question: they tell when, not what.
const HELD_BACK: f64 = 0.5;
/// What follows is something else again.
const ENDS: [&str; 12] =
    ["and", "but", "or", "who", "what", "where", "which", "why", "how", "did", "does", "do"];

/// What happened, and on which side of it lies what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Happened {
    pub side: Side,
    /// The word that says which side.
    pub behind: String,
    /// Its words, in lower case, small words among them.
    pub words: Vec<String>,
}

impl Happened {
    /// The words of a question, of which its own count less.
    pub(crate) fn hold_back(&self, words: Vec<(&str, Word)>) -> Vec<Word> {
        let held =
            |word: &str| if self.words.iter().any(|own| own == word) { HELD_BACK } else { 1.0 };
        let all: f64 = words.iter().map(|(word, of)| held(word) * of.weight).sum();
        let word = |(word, of): (&str, Word)| Word {
            weight: if all > 0.0 { held(word) * of.weight / all } else { of.weight },
            ..of
        };
        words.into_iter().map(word).collect()
    }
}

/// What a question tells a time by, if anything: the first that it names. Whoever names a time by the calendar as well means that one.
pub(crate) fn told(question: &str, today: i32) -> Option<Happened> {
    let question = question.to_lowercase();
    let found = TOLD.captures(&question)?;
    let before = found.get(0).map_or("", |whole| &question[..whole.start()]);
    let (behind, what) = (&found[2], &found[3]);
    let side = Side::of(behind, before);
    if NEVER.is_match(what)
        || ALWAYS.is_match(&question)
        || at_any_time(&question, (side, what))
        || !Times::of(&question, today).is_empty()
    {
        return None;
    }
    // "Why is it needed, since the tests run without it?"
    if side == Side::Since && found.get(1).is_some() {
        return None;
    }
    let words =
        tokenize::words(what, Grams::Pairs).into_iter().map(|word| tokenize::lower(&what[word]));
    let words = words.take_while(|word| !ENDS.contains(&word.as_str())).collect();
    Some(Happened { side, behind: behind.to_owned(), words })
}

/// Whether what a question tells a time by may happen again and again.
fn at_any_time(question: &str, (side, what): (Side, &str)) -> bool {
    let any = if what.starts_with("a ") || what.starts_with("an ") {
        !DID.is_match(what)
    } else {
        ANY.is_match(what) && !PAST.is_match(question)
    };
    let first = [Side::Before, Side::Until].contains(&side)
        && IS_SO.is_match(question)
        && !WAS_SO.is_match(question)
        && !DID.is_match(what);
    any || first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::encoding::SignCode;

    #[test]
    fn what_happened_ends_where_its_part_of_the_question_does() {
        for (question, side, words) in [
            ("Where was it kept before the release?", Side::Before, "the release"),
            (
                "Before Anna moved to Warsaw, where did she live?",
                Side::Before,
                "anna moved to warsaw",
            ),
            (
                "What broke since version 2.1 was released and why?",
                Side::Since,
                "version 2 1 was released",
            ),
            ("who came after the merger; and who left", Side::After, "the merger"),
            ("what broke the day after the release", Side::At, "the release"),
            ("after the release what does the starter plan cost", Side::After, "the release"),
        ] {
            let told = told(question, 0).expect("tells a time");
            assert_eq!((told.side, told.words.join(" ").as_str()), (side, words), "{question}");
        }
        assert_eq!(told("What was released last?", 0), None);
        assert_eq!(told("What comes after?", 0), None);
        assert_eq!(told("Where was it kept in May, before the release?", 0), None);
    }

    #[test]
    fn what_is_done_whenever_something_happens_did_not_happen() {
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
            assert_eq!(told(question, 0), None, "{question}");
        }
        for question in [
            "What broke after merging the branch was finished?",
            "How was it before a flood came?",
            "How are deployments done before Tomek left?",
            "What does the client send since the handshake changed?",
        ] {
            assert!(told(question, 0).is_some(), "{question}");
        }
    }

    #[test]
    fn the_words_of_what_happened_count_half() {
        let told = told("Where did Anna live before the move?", 0).expect("tells a time");
        let word = |weight| Word { code: SignCode::default(), weight };
        let weights =
            |words| told.hold_back(words).iter().map(|word| word.weight).collect::<Vec<_>>();
        assert_eq!(weights(vec![("anna", word(0.5)), ("move", word(0.5))]), [2.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(weights(vec![("move", word(1.0))]), [1.0], "where nothing else is asked for");
    }
}
