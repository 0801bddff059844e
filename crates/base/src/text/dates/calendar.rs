//! Calendar dates in a query: "8 May 2023", "2023-05", "in March". Pure.
//!
//! Source: DATE and `dates` of the reference. Not here: the year of a date without one
//! (`references`), times relative to today (`relative`), months in other languages (`cldr`).

use crate::text::dates::span::DayRange;
use chrono::{Datelike, NaiveDate};
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let short = MONTHS.iter().map(|month| &month[..3]);
    let months: Vec<&str> = MONTHS.into_iter().chain(short).chain(["sept"]).collect();
    let day = r"(\d{1,2})(?:st|nd|rd|th)?";
    let pattern = format!(
        r"(?:\b{day}(?: of)? )?\b({})\b\.?(?: {day}\b)?(?:,? (?:of )?(20\d\d))?",
        months.join("|")
    );
    Regex::new(&pattern).expect("the pattern compiles")
});
static ISO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(20\d\d)-(\d\d)(?:-(\d\d))?\b").expect("the pattern compiles"));
/// Months that are also words or names: "what did Jan say", "the APR of the loan". Without a day or
/// a year they are months only after a preposition.
const AMBIGUOUS_MONTHS: &str = "may|mar|march|jan|apr|sep|dec";
/// Patterns of an ambiguous month after a preposition, and of one in second position as in "between
/// March and May".
static AFTER_PREPOSITION: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    let before = [
        "in|on|of|during|since|before|after|until|till|by|from|between",
        "(?:from|between) [a-z]+ (?:and|to|through|until|till)",
    ];
    before.map(|before| {
        Regex::new(&format!(r"\b(?:{before}) ({AMBIGUOUS_MONTHS})\b"))
            .expect("the pattern compiles")
    })
});

/// Returns whether a word in lower case is the name of a month, whole or short.
pub fn is_month(word: &str) -> bool {
    MONTHS.iter().any(|month| *month == word || month[..3] == *word) || word == "sept"
}

/// A month or a day of a month, with or without a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CalendarDate {
    pub year: Option<i32>,
    month: u32,
    day: Option<u32>,
}

/// A time as a query expresses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Calendar(CalendarDate),
    Days(DayRange),
}

impl Time {
    /// Its days, if they do not depend on an unnamed year.
    pub fn fixed_days(self) -> Option<DayRange> {
        match self {
            Self::Days(days) => Some(days),
            Self::Calendar(date) => date.in_year(date.year?),
        }
    }
}

/// Parses the calendar dates of a query and their byte ranges. The query must be in lower case.
pub fn parse(query: &str) -> Vec<(Range<usize>, CalendarDate)> {
    let after_preposition: Vec<&str> = AFTER_PREPOSITION
        .iter()
        .flat_map(|pattern| pattern.captures_iter(query))
        .filter_map(|found| found.get(1))
        .map(|word| word.as_str())
        .collect();
    let mut dates = Vec::new();
    for found in DATE.captures_iter(query) {
        let number =
            |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok());
        let (word, day, year) =
            (found.get(2).map_or("", |word| word.as_str()), number(1).or(number(3)), number(4));
        if AMBIGUOUS_MONTHS.split('|').any(|month| month == word)
            && day.is_none()
            && year.is_none()
            && !after_preposition.contains(&word)
        {
            continue;
        }
        let month = (1..)
            .zip(MONTHS)
            .find(|(_, month)| word.starts_with(&month[..3]))
            .map_or(1, |(number, _)| number);
        dates.push((
            byte_range(&found),
            CalendarDate { year: year.and_then(|year| i32::try_from(year).ok()), month, day },
        ));
    }
    for found in ISO.captures_iter(query) {
        let number =
            |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok());
        let (year, month) =
            (number(1).and_then(|year| i32::try_from(year).ok()), number(2).unwrap_or(0));
        dates.push((byte_range(&found), CalendarDate { year, month, day: number(3) }));
    }
    dates
}

fn byte_range(found: &Captures<'_>) -> Range<usize> {
    found.get(0).map_or(0..0, |date| date.start()..date.start() + date.as_str().trim_end().len())
}

impl CalendarDate {
    /// A month, from January 1, or a day of it.
    pub(super) fn new(year: Option<i32>, month: u32, day: Option<u32>) -> Self {
        Self { year, month, day }
    }

    /// Returns whether it names a day, and not only a month.
    pub(crate) fn has_day(self) -> bool {
        self.day.is_some()
    }

    /// Its days in this year; `None` if the year has no such day (29 February).
    pub(crate) fn in_year(self, year: i32) -> Option<DayRange> {
        let first = NaiveDate::from_ymd_opt(year, self.month, self.day.unwrap_or(1))?;
        let last = if self.day.is_some() {
            first
        } else {
            first.checked_add_months(chrono::Months::new(1))?.pred_opt()?
        };
        Some(DayRange { first: first.num_days_from_ce(), last: last.num_days_from_ce() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_of_a_date_are_parsed() {
        let date = |year, month, day| CalendarDate { year, month, day };
        let dates_in = |question: &str| {
            parse(&question.to_lowercase()).into_iter().map(|(_, date)| date).collect::<Vec<_>>()
        };
        assert_eq!(dates_in("What happened on 8 May, 2023?"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(dates_in("on the 8th of May"), [date(None, 5, Some(8))]);
        assert_eq!(dates_in("on Sept. 3rd 2024"), [date(Some(2024), 9, Some(3))]);
        assert_eq!(
            dates_in("in December of 2022 or January"),
            [date(Some(2022), 12, None), date(None, 1, None)]
        );
        assert_eq!(dates_in("before 2023-05-08"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(dates_in("what broke in 2024-05?"), [date(Some(2024), 5, None)]);
        assert_eq!(dates_in("in 2024 May"), []);
        assert_eq!(
            dates_in("since Jan, and until 3 Dec"),
            [date(None, 1, None), date(None, 12, Some(3))]
        );
        assert_eq!(dates_in("since May"), [date(None, 5, None)]);
        assert_eq!(dates_in("between March and May"), [date(None, 3, None), date(None, 5, None)]);
        assert_eq!(dates_in("May I march in March?"), [date(None, 3, None), date(None, 3, None)]);
        assert!(dates_in("What did Jan say of the APR?").is_empty());
        assert!(
            dates_in("May I march?").is_empty()
                && dates_in("the decimal system, marching").is_empty()
        );
    }

    #[test]
    fn a_date_without_a_year_exists_only_in_years_that_have_the_day() {
        let days = |question: &str, year| {
            parse(question)[0].1.in_year(year).map(|days| days.last - days.first + 1)
        };
        assert_eq!(
            (days("in february", 2024), days("in february", 2023), days("29 february", 2024)),
            (Some(29), Some(28), Some(1))
        );
        assert_eq!(days("29 february", 2023), None);
    }
}
