//! Times in a query in other languages than English: "la semaine dernière", "上周", "12. Mai 2026".
//! Pure.
//!
//! The phrases are those of Unicode's CLDR (`cldr_table`), not all that people say: no "vor drei
//! Tagen", no weekday alone, no relation ("seit Januar" means January). A phrase counts only where it
//! can hardly mean anything else:
//!
//! - A single word counts in no query that is in English or in another language. One that is a stop
//!   word of another language needs a query in its own ("hier").
//! - The name of a month counts next to a day or a year or after a preposition, because people are
//!   called Julio and August, and an abbreviation only with both. In an English query each needs
//!   both.
//! - Without its diacritics a phrase needs six letters: "maine" is not Romanian "mâine".
//! - Words that also mean a part of the day ("morgen", "mañana") are not in the table.
//!
//! A query whose words show no language may still name a time by mistake: "Mars 2020 rover".
//!
//! Not here: English (`relative`, `calendar`).

use crate::text::dates::calendar::{CalendarDate, Time};
use crate::text::dates::cldr_table::{Folded, Row, Unit, inflected_month};
use crate::text::dates::relative;
use crate::text::dates::span::DayRange;
use crate::text::language::{self, Language, detect};
use crate::text::stop_words::{ENGLISH, languages};
use chrono::{Datelike, NaiveDate, TimeDelta, Weekday};
use regex::Regex;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

/// Letters of a phrase that counts without its diacritics.
const LONG_UNMARKED: usize = 6;
/// Letters of a word that shows that a query is in English.
const ENGLISH_LETTERS: usize = 3;
/// Prepositions before a month, without diacritics.
const PREPOSITIONS: [(&str, &[&str]); 11] = [
    ("ar", &["في"]),
    ("de", &["im", "vom"]),
    ("es", &["en", "de"]),
    ("fr", &["en", "de"]),
    ("it", &["a", "di", "in"]),
    ("nl", &["in", "van"]),
    ("pl", &["w", "we", "z", "od", "do"]),
    ("pt", &["em", "de"]),
    ("ro", &["in", "din"]),
    ("ru", &["в", "с", "от", "до", "за"]),
    ("sv", &["i"]),
];
/// A day before the name of a month, a year after it.
static AROUND: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    patterns([
        r"(?:^|[^\d:.,])((\d{1,2})(?:\.|er|º)? (?:de )?)$",
        r"^([.,]? (?:(?:de|nam) )?(20\d\d))\b",
    ])
});
/// A year before a month and a day after it, in scripts without spaces.
static AROUND_UNSPACED: LazyLock<[Regex; 2]> =
    LazyLock::new(|| patterns([r"((20\d\d)年 ?)$", r"^( ?(\d{1,2})[日号號])"]));
/// Characters before and after a month that are looked at: more than a day or a year has.
const AROUND_CHARACTERS: usize = 14;

fn patterns(texts: [&str; 2]) -> [Regex; 2] {
    texts.map(|text| Regex::new(text).expect("the pattern compiles"))
}

/// Parses the times of a query, with their byte ranges, which do not overlap. The query must be in
/// lower case.
pub fn parse(query: &str, today: i32) -> Vec<(Range<usize>, Time)> {
    let query = Query::new(query);
    let phrases = query.folded.phrases();
    let times = phrases
        .into_iter()
        .filter_map(|(at, rows)| rows.iter().find_map(|row| query.time(row, &at, today)));
    let mut found: Vec<_> = times.chain(query.inflected_months()).collect();
    found.sort_by_key(|(at, _)| Reverse(at.len()));
    let mut longest: Vec<(Range<usize>, Time)> = Vec::new();
    for (at, time) in found {
        if longest.iter().all(|(other, _)| at.end <= other.start || other.end <= at.start) {
            longest.push((at, time));
        }
    }
    longest.into_iter().map(|(at, time)| (query.folded.unfolded(&at), time)).collect()
}

struct Query<'a> {
    /// In lower case.
    text: &'a str,
    folded: Folded,
    /// Codes of the detected languages.
    languages: Vec<&'static str>,
    is_english: bool,
}

impl<'a> Query<'a> {
    fn new(text: &'a str) -> Self {
        let languages: Vec<_> = detect(text).into_iter().map(code).collect();
        let words = || text.split(|c: char| !c.is_alphanumeric());
        let is_english_word =
            |word: &&str| word.len() >= ENGLISH_LETTERS && self::languages(word) == ENGLISH;
        let english = words().filter(is_english_word).count();
        let others = words().filter(|word| !word.is_ascii()).count();
        let is_english = languages.is_empty() && english > others;
        Self { text, folded: Folded::new(text), languages, is_english }
    }

    /// The time that a phrase of the table means at this place of the folded query.
    fn time(&self, row: &Row, at: &Range<usize>, today: i32) -> Option<(Range<usize>, Time)> {
        if row.is_month() {
            return self.month(row, at);
        }
        let is_word = !row.phrase.contains(' ') && !row.is_unspaced();
        let counts = !is_word || (!self.is_foreign(row) && self.is_own(row));
        let days = (counts && self.is_spelled(row, at)).then(|| days(row, today))??;
        Some((at.clone(), Time::Days(days)))
    }

    /// The month with the day and the year next to it.
    fn month(&self, row: &Row, at: &Range<usize>) -> Option<(Range<usize>, Time)> {
        let (before, after) = self.folded.text.split_at(at.start);
        let after = after.get(at.len()..)?;
        let patterns = if row.is_unspaced() { &AROUND_UNSPACED } else { &AROUND };
        let [before, after] = [(last(before), 0), (first(after), 1)].map(|(text, side)| {
            let found = patterns.get(side)?.captures(text)?;
            Some((found.get(1)?.len(), found.get(2)?.as_str().parse::<u32>().ok()?))
        });
        let (day, year) = if row.is_unspaced() { (after, before) } else { (before, after) };
        let day = day.map(|(_, day)| day).filter(|day| (1..=31).contains(day));
        let year = year.and_then(|(_, year)| i32::try_from(year).ok());
        let is_next = day.is_some() || year.is_some() || self.is_after_preposition(row, at);
        let counts = match row.unit {
            _ if day.is_some() && year.is_some() => true,
            _ if self.is_foreign(row) => false,
            Unit::MonthName => is_next || row.phrase.contains(' ') || row.is_unspaced(),
            Unit::MonthForm => is_next,
            _ => row.is_unspaced(),
        };
        let length = |side: Option<(usize, u32)>| side.map_or(0, |(length, _)| length);
        let whole = at.start - length(before)..at.end + length(after);
        let date = CalendarDate::new(year, u32::try_from(row.number).ok()?, day);
        (counts && self.is_own(row)).then_some((whole, Time::Calendar(date)))
    }

    /// The months by a form of their names that is not in the table, after a preposition.
    fn inflected_months(&self) -> impl Iterator<Item = (Range<usize>, Time)> {
        self.folded.words().filter_map(|(at, _)| {
            let before = self.word_before(&at)?;
            let mut of_preposition =
                PREPOSITIONS.iter().filter(|(_, words)| words.contains(&before));
            let word = self.text.get(self.folded.unfolded(&at))?;
            let row = of_preposition.find_map(|(language, _)| inflected_month(language, word))?;
            self.month(&row, &at)
        })
    }

    fn word_before(&self, at: &Range<usize>) -> Option<&str> {
        let before = self.folded.text.get(..at.start)?.strip_suffix(' ')?;
        before.rsplit(|c: char| !c.is_alphanumeric()).next()
    }

    fn is_after_preposition(&self, row: &Row, at: &Range<usize>) -> bool {
        let before = self.word_before(at).unwrap_or_default();
        let has =
            |code| PREPOSITIONS.iter().any(|(of, words)| *of == code && words.contains(&before));
        row.languages().any(has)
    }

    /// Whether the query is in English, and the phrase is in its script.
    fn is_foreign(&self, row: &Row) -> bool {
        self.is_english && row.phrase.chars().all(|c| c < '\u{250}')
    }

    /// Whether the query may be in a language of the phrase: only some languages are detected.
    fn is_own(&self, row: &Row) -> bool {
        let detectable = language::ALL.into_iter().map(|known| (code(known), language::bit(known)));
        let is_of_row = |code: &str| row.languages().any(|own| own == code);
        let own_bits = detectable.clone().filter(|(code, _)| is_of_row(code));
        let own_bits = own_bits.fold(0, |bits, (_, bit)| bits | bit);
        if languages(row.phrase) & !own_bits != 0 {
            return !self.languages.is_empty() && self.languages.iter().all(|code| is_of_row(code));
        }
        self.languages.is_empty()
            || self.languages.iter().any(|code| is_of_row(code))
            || row.languages().any(|own| detectable.clone().all(|(code, _)| code != own))
    }

    /// Whether the phrase has its diacritics, or is long enough without them.
    fn is_spelled(&self, row: &Row, at: &Range<usize>) -> bool {
        let typed = self.text.get(self.folded.unfolded(at)).unwrap_or_default();
        row.phrase.chars().count() >= LONG_UNMARKED || typed.replace('’', "'") == row.phrase
    }
}

/// The code of a language in the table.
fn code(language: Language) -> &'static str {
    match language {
        Language::German => "de",
        Language::French => "fr",
        Language::Spanish => "es",
        Language::Polish => "pl",
    }
}

fn first(text: &str) -> &str {
    text.char_indices().nth(AROUND_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

fn last(text: &str) -> &str {
    text.char_indices().nth_back(AROUND_CHARACTERS).map_or(text, |(start, _)| &text[start..])
}

/// The days of a relative time.
fn days(row: &Row, today: i32) -> Option<DayRange> {
    let date = NaiveDate::from_num_days_from_ce_opt(today)?;
    let one = |day: NaiveDate| day..=day;
    let monday = date.week(Weekday::Mon).checked_first_day()?;
    let add = |day: NaiveDate, days: i32| day.checked_add_signed(TimeDelta::days(days.into()));
    let dates = match row.unit {
        Unit::Day => one(add(date, row.number)?),
        Unit::Period(unit) => relative::period(unit, row.number, date)?,
        Unit::WeekdayOfWeek(weekday) => one(add(monday, row.number * 7 + weekday)?),
        Unit::Weekday(weekday) => {
            let this = add(monday, weekday)?;
            let weeks = match row.number {
                -1 if this < date => 0,
                1 if this > date => 0,
                weeks => weeks,
            };
            one(add(this, weeks * 7)?)
        }
        _ => return None,
    };
    Some(DayRange { first: dates.start().num_days_from_ce(), last: dates.end().num_days_from_ce() })
}

#[cfg(test)]
mod tests;
