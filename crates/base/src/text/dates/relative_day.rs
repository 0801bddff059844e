//! The day that a relative word at the start or the end of a stored text means: "Yesterday we …", "… moved yesterday", "Gestern …". Pure.
//!
//! The text is read later, when "yesterday" is another day. Only a single day counts, and only where its word stands alone: not in quotes,
//! code, a name or a longer phrase, and not as a limit ("by tomorrow", "since yesterday"). Words that often mean something else, such as
//! "morgen" and "mañana", are left out. Not here: a date that the text names (`event_day`), the times of a query (`references`).

use crate::text::dates::relative;
use crate::text::dates::span::DayRange;
use crate::text::language::{Language, detect};
use std::ops::Range;

/// A relative day of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeDay {
    /// Its words, as the text has them.
    pub words: String,
    /// The day, in days since 0001-01-01 (day 1).
    pub day: i32,
}

/// Words for a day, with its distance from today. English has more (`relative`).
const WORDS: [(&str, i32); 42] = [
    ("gestern", -1),
    ("vorgestern", -2),
    ("heute", 0),
    ("übermorgen", 2),
    (HIER, -1),
    ("avant-hier", -2),
    ("aujourd'hui", 0),
    ("aujourd’hui", 0),
    ("demain", 1),
    ("après-demain", 2),
    ("ayer", -1),
    ("anteayer", -2),
    ("hoy", 0),
    ("wczoraj", -1),
    ("przedwczoraj", -2),
    ("dzisiaj", 0),
    ("dziś", 0),
    ("jutro", 1),
    ("ontem", -1),
    ("anteontem", -2),
    ("hoje", 0),
    ("amanhã", 1),
    ("ieri", -1),
    ("oggi", 0),
    ("domani", 1),
    ("gisteren", -1),
    ("eergisteren", -2),
    ("vandaag", 0),
    ("igår", -1),
    ("вчера", -1),
    ("позавчера", -2),
    ("сегодня", 0),
    ("завтра", 1),
    ("dün", -1),
    ("bugün", 0),
    ("yarın", 1),
    ("أمس", -1),
    ("昨天", -1),
    ("前天", -2),
    ("今天", 0),
    ("明天", 1),
    ("昨日", -1),
];

/// Those of English that are one day in themselves.
const ENGLISH: [&str; 9] = [
    "day before yesterday",
    "yesterday",
    "last night",
    "today",
    "tonight",
    "this morning",
    "this afternoon",
    "this evening",
    "tomorrow",
];

/// Yesterday in French, here in German.
const HIER: &str = "hier";

/// Words before a day with which it is no day of an event but a limit or a start, or another day.
const NOT_AFTER: [&str; 34] = [
    "by", "until", "till", "before", "since", "from", "after", "due", "for", "of", "ago", "than",
    "like", "bis", "seit", "ab", "vor", "für", "von", "jusqu'à", "depuis", "dès", "avant", "pour",
    "par", "hasta", "desde", "para", "de", "altro", "l'altro", "da", "до", "с",
];

/// Characters of a text that are looked at, at either side: more than any of the phrases has.
const EDGE: usize = 64;

/// Returns the relative day at the start or the end of a text that is stored on the day `today`; `None` if both have different ones.
pub fn of(text: &str, today: i32) -> Option<RelativeDay> {
    let text = text.trim();
    let head = text.char_indices().nth(EDGE).map_or(text, |(end, _)| &text[..end]);
    let tail = text.char_indices().nth_back(EDGE).map_or(text, |(start, _)| &text[start..]);
    let (start, end) = (at_start(head, text, today), at_end(tail, text, today));
    match (&start, &end) {
        (Some(first), Some(last)) if first.day != last.day => None,
        _ => start.or(end),
    }
}

fn at_start(head: &str, text: &str, today: i32) -> Option<RelativeDay> {
    let body = head.trim_start_matches(|c: char| " *_>-#[(".contains(c));
    let lower = lower_alike(body)?;
    let stands = |range: &Range<usize>| {
        let after = lower[range.end..].chars().next();
        let ends = after.is_none_or(|c| c.is_whitespace() || ",:;)]*".contains(c));
        range.start == 0 && (ends || is_unspaced(&lower))
    };
    days(&lower, text, today).into_iter().find(|(range, _)| stands(range)).map(|at| found(body, at))
}

fn at_end(tail: &str, text: &str, today: i32) -> Option<RelativeDay> {
    let body = tail.trim_end_matches(|c: char| " .!)]*_。！".contains(c));
    let lower = lower_alike(body)?;
    let stands = |range: &Range<usize>| {
        let (before, words) = lower.split_at(range.start);
        let begins =
            before.chars().next_back().is_none_or(|c| c.is_whitespace() || "(,:;–—".contains(c));
        // With a capital it is a name: "… reads USA Today".
        let is_lower = body[range.start..].chars().next() == words.chars().next();
        range.end == lower.len()
            && (begins || is_unspaced(words))
            && is_lower
            && !follows_limit(before)
    };
    days(&lower, text, today).into_iter().find(|(range, _)| stands(range)).map(|at| found(body, at))
}

/// Returns the days that a text in lower case may name at its start or its end, with their places.
fn days(lower: &str, text: &str, today: i32) -> Vec<(Range<usize>, i32)> {
    let mut days = english(lower, today);
    for (word, offset) in
        WORDS.iter().filter(|(word, _)| *word != HIER || detect(text) == [Language::French])
    {
        let ranges = [
            (lower.starts_with(word), 0),
            (lower.ends_with(word), lower.len().saturating_sub(word.len())),
        ];
        let at = ranges.into_iter().filter(|(is_there, _)| *is_there);
        days.extend(at.map(|(_, start)| (start..start + word.len(), today + offset)));
    }
    // The longest words of a place count: "avant-hier" and not "hier".
    days.sort_by_key(|(range, _)| std::cmp::Reverse(range.len()));
    days
}

/// Returns the single days of English phrases: "the day before yesterday", "three days ago", "last Monday".
fn english(lower: &str, today: i32) -> Vec<(Range<usize>, i32)> {
    let single = |(range, days): (Range<usize>, DayRange)| {
        let (before, words) = (&lower[..range.start], &lower[range.clone()]);
        let is_ago = words.ends_with(" days ago") || words.ends_with(" day ago");
        let is_weekday = before.ends_with("last ") && words.ends_with("day");
        // "The last Friday" is one of each month.
        let is_each = is_weekday && before.ends_with("the last ");
        let is_day = ENGLISH.contains(&words) || is_weekday || (is_ago && days.first != today);
        let article = if is_weekday { "last " } else { "the " };
        let takes_article = is_weekday || words.starts_with("day before");
        let start = before.strip_suffix(article).filter(|_| takes_article);
        let start = start.map_or(range.start, str::len);
        (is_day && !is_each && days.first == days.last).then_some((start..range.end, days.first))
    };
    relative::parse(lower, today).into_iter().filter_map(single).collect()
}

/// Returns whether the last word of a text makes what follows a limit, or another day.
fn follows_limit(before: &str) -> bool {
    before.split_whitespace().next_back().is_some_and(|last| NOT_AFTER.contains(&last))
}

fn found(body: &str, (range, day): (Range<usize>, i32)) -> RelativeDay {
    RelativeDay { words: body[range].to_owned(), day }
}

/// Returns the text in lower case; `None` if that moves its letters, so that a place in one is none in the other.
fn lower_alike(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    (lower.len() == text.len()).then_some(lower)
}

/// Returns whether words of the script stand without spaces.
fn is_unspaced(word: &str) -> bool {
    word.starts_with(|c: char| ('\u{3040}'..='\u{9fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::features::day;
    use proptest::prelude::*;

    /// Wednesday, 13 May 2026.
    const TODAY: &str = "2026-05-13";

    fn today() -> i32 {
        day(TODAY).expect("the text is a date")
    }

    #[test]
    fn a_relative_day_at_the_start_or_the_end_is_resolved() {
        for (text, words, expected) in [
            ("Yesterday the staging database moved.", "Yesterday", "2026-05-12"),
            ("The staging database moved yesterday.", "yesterday", "2026-05-12"),
            ("- *today* we chose Postgres", "today", TODAY),
            ("Tomorrow: the offer mails first", "Tomorrow", "2026-05-14"),
            ("Vera signed the contracts last Monday", "last Monday", "2026-05-11"),
            ("Last Monday Vera began", "Last Monday", "2026-05-11"),
            ("The key was rotated three days ago.", "three days ago", "2026-05-10"),
            ("Kim left the day before yesterday.", "the day before yesterday", "2026-05-11"),
            ("The day before yesterday Kim left", "The day before yesterday", "2026-05-11"),
            ("Gestern wurde die Kasse geprüft", "Gestern", "2026-05-12"),
            ("Der Prüfer kam vorgestern.", "vorgestern", "2026-05-11"),
            ("Hier, nous avons choisi le nouveau fournisseur avec Maud", "Hier", "2026-05-12"),
            ("Ayer cambiamos de laboratorio", "Ayer", "2026-05-12"),
            ("Cambiamos de laboratorio (ayer)", "ayer", "2026-05-12"),
            ("Сервер переехал вчера", "вчера", "2026-05-12"),
            ("昨天我们搬了数据库", "昨天", "2026-05-12"),
            (
                &format!("Yesterday {}", "we moved the database. ".repeat(900)),
                "Yesterday",
                "2026-05-12",
            ),
            (&format!("{} It broke yesterday", "ж".repeat(900)), "yesterday", "2026-05-12"),
        ] {
            let found = of(text, today()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.words.as_str(), Some(found.day)), (words, day(expected)), "{text}");
        }
    }

    #[test]
    fn a_word_that_does_not_stand_alone_means_no_day() {
        for text in [
            "The backup of yesterday is kept for a week",
            "\"Yesterday\" is the ring tone of the office",
            "Show the commits with git log --since=yesterday",
            "Run `git log --since yesterday`",
            "The branch is called today-fix",
            "Yesterday's build cache lives in /var/cache/old",
            "Tomorrow.io gives the weather",
            "The user reads USA Today.",
            "Der Newsletter heißt Heute",
            "Today's date is printed in the header",
            "Hier steht der Drucker, und er ist kaputt",
            "Le bureau d'Anna est par hier",
            "Der Laden öffnet morgen früh",
            "Morgen ist der Nachname des Chefs",
            "Mañana Software is the supplier",
            "Abrimos por la mañana",
            "Yesterday we chose tomorrow",
            "The release was last week",
            "Payroll runs every month on the last Friday.",
            "Sessions end when the user was idle for the past hour.",
            "The limiter counts requests of the last 10 minutes",
            "The server heron crashed 20 hours ago.",
            "The cron job archives rows older than yesterday",
            "",
        ] {
            assert_eq!(of(text, today()), None, "{text}");
        }
    }

    #[test]
    fn a_limit_a_start_and_a_longer_phrase_mean_no_day() {
        for text in [
            "The report is due tomorrow.",
            "Ines said: deploy by tomorrow",
            "The freeze lasts until tomorrow",
            "The backup has run since yesterday.",
            "Vera signs since last Monday",
            "Die Sperre gilt bis übermorgen.",
            "Le gel dure depuis hier",
            "Kim returns the day after tomorrow.",
            "Kim leaves a week from today",
            "Kim joined a year ago yesterday",
            "Marie est venue avant hier.",
            "Enza è arrivata l'altro ieri",
            "A Maria chega depois de amanhã.",
            "Desde ayer va a otro laboratorio",
        ] {
            assert_eq!(of(text, today()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_read_without_a_panic(text in "(\\PC{0,12} )?(yesterday|GESTERN|İ|hier|昨天|last monday)?(\\PC{0,12})?", today in 1..4_000_000) {
            let found = of(&text, today);
            prop_assert!(found.is_none_or(|found| text.contains(&found.words)));
        }
    }
}
