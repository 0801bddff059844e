//! What a text says of itself: when it was, who says it, what is left of it, and of which kind it is.
//!
//! Source: the patterns and `content_words` of the reference. Not here: what each of them weighs.

use crate::text::language;
use crate::text::stop_words;
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A pattern of this file; each is compiled once, in a test at the latest.
macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("is a pattern"));
    };
}

pattern!(
    PREFIX,
    r"^(?:\[(\d{4}-\d\d-\d\d)[^\]]*\] )?(?:(\p{Lu}[\w.'-]*(?: \p{Lu}[\w.'-]*){0,2}): )?"
);
pattern!(FIRST_PERSON, r"\b(I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur|me)\b");
pattern!(
    TIME_WORD,
    r"(?i)\b(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekends?|months?|years?|\w*day|recently|since|just|soon|morning|evening|night|jan\w*|feb\w*|march|april|june|july|aug\w*|sept\w*|oct\w*|nov\w*|dec\w*|20\d\d)\b"
);
pattern!(INNER_NAME, r"[a-z,] [A-Z][a-z]+");
pattern!(ASKS_WHEN, r"(?i)^when\b|\bwhen (did|was|is)\b|\bwhat (date|day|month|year)\b");
pattern!(ASKS_WHERE, r"(?i)^where\b|\b(which|what) (city|country|place|state|town)\b");

/// A text, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The day of `[2023-05-08] ` at its beginning, as a number of days.
    pub day: Option<i32>,
    /// Who says it, of `Name: `; empty where nobody is named.
    pub speaker: &'a str,
    /// What is said.
    pub body: &'a str,
}

/// Takes a text apart: `[date] `, `Name: `, and the rest; each of the first two may be missing.
#[must_use]
pub fn parts(text: &str) -> Parts<'_> {
    // Most texts have neither, and show it at a glance.
    let may_have = text.starts_with('[') || text.contains(": ");
    let Some(found) = may_have.then(|| PREFIX.captures(text)).flatten() else {
        return Parts { day: None, speaker: "", body: text };
    };
    let group = |number| found.get(number).map_or("", |group: regex::Match<'_>| group.as_str());
    Parts {
        day: day(group(1)),
        speaker: group(2),
        body: &text[found.get(0).map_or(0, |whole| whole.end())..],
    }
}

/// The day of a date that begins with `2023-05-08`, counted as [`Datelike::num_days_from_ce`] does.
pub(crate) fn day(date: &str) -> Option<i32> {
    date.get(..10)?.parse::<NaiveDate>().ok().map(|date| date.num_days_from_ce())
}

/// Where the content words of a text stand: those that are no small words, of English or of its own language, or all of them if every
/// one is. In scripts without blanks each pair of neighbouring characters is a word.
#[must_use]
pub fn content_words(text: &str) -> Vec<Range<usize>> {
    let words = tokenize::words(text, Grams::Pairs);
    let small = small(text);
    let topical: Vec<Range<usize>> = words
        .iter()
        .filter(|word| !small(&tokenize::lower(&text[(*word).clone()])))
        .cloned()
        .collect();
    if topical.is_empty() { words } else { topical }
}

/// Whether a word, in lower case, carries no topic in a text.
pub(crate) fn small(text: &str) -> impl Fn(&str) -> bool + use<> {
    let bits = language::of(text)
        .into_iter()
        .map(language::bit)
        .fold(stop_words::ENGLISH, |bits, bit| bits | bit);
    move |word| stop_words::kinds(word) & bits != 0
}

/// Of which kind a text is, as far as ranking asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    pub first_person: bool,
    pub time_word: bool,
    pub inner_name: bool,
    pub question: bool,
}

/// Of which kind the body of a text is.
pub(crate) fn kind(body: &str) -> Kind {
    Kind {
        first_person: FIRST_PERSON.is_match(body),
        time_word: TIME_WORD.is_match(body),
        inner_name: INNER_NAME.is_match(body),
        question: body.trim_end().ends_with('?'),
    }
}

/// What a question wants to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    pub time: bool,
    pub place: bool,
}

/// What a question wants to hear, by its question word.
pub(crate) fn wanted(question: &str) -> Wanted {
    Wanted { time: ASKS_WHEN.is_match(question), place: ASKS_WHERE.is_match(question) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_and_speaker_are_taken_off_the_body() {
        let whole = parts("[2023-05-08 13:56] Anna Kowalska: I was in Gdynia.");
        assert_eq!(
            (whole.day, whole.speaker, whole.body),
            (Some(738_648), "Anna Kowalska", "I was in Gdynia.")
        );
        assert_eq!(
            (parts("Decision: use tabs").speaker, parts("Łukasz: tak").speaker),
            ("Decision", "Łukasz")
        );
        for plain in ["no prefix: at all", "[soon] maybe", "See https://x.example: here", ""] {
            assert_eq!(parts(plain), Parts { day: None, speaker: "", body: plain });
        }
        assert_eq!(parts("[2023-02-31] x").day, None, "there is no such day");
    }

    #[test]
    fn content_words_are_all_words_where_every_one_is_a_stop_word() {
        let words = |text: &'static str| {
            content_words(text).into_iter().map(|word| &text[word]).collect::<Vec<_>>()
        };
        assert_eq!(words("What is the user's e-mail in Łódź?"), ["user", "e", "mail", "Łódź"]);
        assert_eq!(words("Who are you?"), ["Who", "are", "you"]);
        assert_eq!(words("Wo hängt der Schlüssel für die Küche?"), ["hängt", "Schlüssel", "Küche"]);
        assert_eq!(words("They die in the war"), ["die", "war"], "small words in German alone");
        assert_eq!(words("会議室は3階"), ["会議", "議室", "室は", "3", "階"]);
        assert!(words("?!").is_empty());
    }

    #[test]
    fn kinds_are_seen_in_the_body() {
        let all = kind("Yesterday my sister, Joan, went to Berlin. Right? ");
        assert_eq!(
            all,
            Kind { first_person: true, time_word: true, inner_name: true, question: true }
        );
        assert_eq!(kind("The kettle is hot."), Kind::default());
        assert!(kind("Monday").time_word && !kind("Berlin").inner_name);
    }

    #[test]
    fn questions_say_what_they_want() {
        assert_eq!(wanted("When did she go?"), Wanted { time: true, place: false });
        assert_eq!(wanted("In which city is it"), Wanted { time: false, place: true });
        assert_eq!(wanted("Tell me what month and where"), Wanted { time: true, place: false });
    }
}
