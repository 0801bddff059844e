//! Features of a text: its date, speaker and body, its content words, and its traits.
//!
//! Source: the patterns and `content_words` of the reference. Not here: the weight of a feature
//! (`ranking`).

use crate::text::dates;
use crate::text::language;
use crate::text::stop_words;
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Defines a static pattern. It is compiled at first use; a test uses each.
macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("the pattern compiles"));
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
pattern!(INNER_NAME, r"[\p{L}\d,] \p{Lu}\p{L}+");
pattern!(ASKS_WHEN, r"(?i)^when\b|\bwhen (did|was|is)\b|\bwhat (date|day|month|year)\b");
pattern!(ASKS_WHERE, r"(?i)^where\b|\b(which|what) (city|country|place|state|town)\b");

/// A text, split into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The day of a leading `[2023-05-08] `, as [`Datelike::num_days_from_ce`] counts it.
    pub day: Option<i32>,
    /// The speaker of a leading `Name: `; empty if there is none.
    pub speaker: &'a str,
    /// The text after the date and the speaker.
    pub body: &'a str,
}

/// Splits a text into `[date] `, `Name: ` and the rest. Each of the first two may be missing.
pub fn parts(text: &str) -> Parts<'_> {
    // Most texts have neither; this test is much cheaper than the pattern.
    let may_match = text.starts_with('[') || text.contains(": ");
    let Some(prefix) = may_match.then(|| PREFIX.captures(text)).flatten() else {
        return Parts { day: None, speaker: "", body: text };
    };
    let group = |number| prefix.get(number).map_or("", |group: regex::Match<'_>| group.as_str());
    Parts {
        day: day(group(1)),
        speaker: group(2),
        body: &text[prefix.get(0).map_or(0, |whole| whole.end())..],
    }
}

/// Returns the part of a text whose words are compared one by one: the whole text with its title,
/// or the body of a dated line such as `[2023-05-08] Anna: …`, which is a message of a speaker.
pub fn compared_part(text: &str) -> &str {
    let parts = parts(text);
    if parts.day.is_some() { parts.body } else { text }
}

/// Returns the day of the event that a text names: that of a leading `[2023-05-08] `, else the one
/// that its sentences name as the day of their event.
pub fn event_day(text: &str) -> Option<i32> {
    parts(text).day.or_else(|| dates::event_day::of(text))
}

/// Parses a date that begins with `2023-05-08` to a day number, counted as
/// [`Datelike::num_days_from_ce`] does.
pub fn day(date: &str) -> Option<i32> {
    date.get(..10)?.parse::<NaiveDate>().ok().map(|date| date.num_days_from_ce())
}

/// Returns the byte ranges of the content words: all words but the stop words of English and of the
/// text's own language, or all words if every one is a stop word. In scripts without spaces each
/// pair of adjacent characters is a word.
pub fn content_words(text: &str) -> Vec<Range<usize>> {
    let words = tokenize::words(text, Grams::Pairs);
    let is_stop_word = stop_word_test(text);
    let topical: Vec<Range<usize>> = words
        .iter()
        .filter(|word| !is_stop_word(&tokenize::lower(&text[(*word).clone()])))
        .cloned()
        .collect();
    if topical.is_empty() { words } else { topical }
}

/// Returns a test for the stop words of a text: those of English and of the text's own language.
/// The test takes a word in lower case.
pub fn stop_word_test(text: &str) -> impl Fn(&str) -> bool + use<> {
    let bits = language::detect(text)
        .into_iter()
        .map(language::bit)
        .fold(stop_words::ENGLISH, |bits, bit| bits | bit);
    move |word| stop_words::languages(word) & bits != 0
}

/// Traits of a text body that ranking uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextTraits {
    /// It uses the first person.
    pub uses_first_person: bool,
    /// It has a word of time.
    pub has_time_word: bool,
    /// It has a capitalised word inside a sentence.
    pub has_inner_name: bool,
    /// It ends with a question mark.
    pub is_question: bool,
}

/// Determines the traits of a text body.
pub fn traits(body: &str) -> TextTraits {
    TextTraits {
        uses_first_person: FIRST_PERSON.is_match(body),
        has_time_word: TIME_WORD.is_match(body),
        has_inner_name: INNER_NAME.is_match(body),
        is_question: body.trim_end().ends_with('?'),
    }
}

/// The kind of content that a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExpectedContent {
    /// Whether the query asks for a time.
    pub is_time: bool,
    /// Whether the query asks for a place.
    pub is_place: bool,
}

/// Determines the kind of content that a query asks for, from its question word.
pub fn expected_content(question: &str) -> ExpectedContent {
    ExpectedContent {
        is_time: ASKS_WHEN.is_match(question),
        is_place: ASKS_WHERE.is_match(question),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_and_speaker_are_split_from_the_body() {
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
        assert_eq!(parts("[2023-02-31] x").day, None, "this day does not exist");
    }

    #[test]
    fn content_words_exclude_stop_words_unless_there_are_no_others() {
        let words = |text: &'static str| {
            content_words(text).into_iter().map(|word| &text[word]).collect::<Vec<_>>()
        };
        assert_eq!(words("What is the user's e-mail in Łódź?"), ["user", "e", "mail", "Łódź"]);
        assert_eq!(words("Who are you?"), ["Who", "are", "you"]);
        assert_eq!(words("Wo hängt der Schlüssel für die Küche?"), ["hängt", "Schlüssel", "Küche"]);
        assert_eq!(
            words("They die in the war"),
            ["die", "war"],
            "these are stop words in German only"
        );
        assert_eq!(words("会議室は3階"), ["会議", "議室", "室は", "3", "階"]);
        assert!(words("?!").is_empty());
    }

    #[test]
    fn traits_are_found_in_the_body() {
        let all = traits("Yesterday my sister, Joan, went to Berlin. Right? ");
        assert_eq!(
            all,
            TextTraits {
                uses_first_person: true,
                has_time_word: true,
                has_inner_name: true,
                is_question: true
            }
        );
        assert_eq!(traits("The kettle is hot."), TextTraits::default());
        assert!(traits("Monday").has_time_word && !traits("Berlin").has_inner_name);
    }

    #[test]
    fn the_question_word_determines_the_expected_content() {
        assert_eq!(
            expected_content("When did she go?"),
            ExpectedContent { is_time: true, is_place: false }
        );
        assert_eq!(
            expected_content("In which city is it"),
            ExpectedContent { is_time: false, is_place: true }
        );
        assert_eq!(
            expected_content("Tell me what month and where"),
            ExpectedContent { is_time: true, is_place: false }
        );
    }
}
