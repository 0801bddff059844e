//! Dates by the calendar that a question names. Pure.
//!
//! Source: DATE and `dates` of the reference. Not here: which year is meant where none is named (`times`), times as seen from today
//! (`relative`).

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
    Regex::new(&pattern).expect("is a pattern")
});
static ISO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(20\d\d)-(\d\d)(?:-(\d\d))?\b").expect("is a pattern"));
/// Months that are words or names as well: "what did Jan say", "the APR of the loan". These alone are months only after a word such as "in".
const WORDS: &str = "may|mar|march|jan|apr|sep|dec";
/// The second has its word in the company of the first's.
static BARE: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    let before = [
        "in|on|of|during|since|before|after|until|till|by|from|between",
        "(?:from|between) [a-z]+ (?:and|to|through|until|till)",
    ];
    before.map(|before| Regex::new(&format!(r"\b(?:{before}) ({WORDS})\b")).expect("is a pattern"))
});

/// A month, or a day of it, of one year or of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub year: Option<i32>,
    month: u32,
    day: Option<u32>,
}

/// The dates that a question (in lower case) names, and where.
pub(crate) fn named(question: &str) -> Vec<(Range<usize>, Named)> {
    let bare: Vec<&str> = BARE
        .iter()
        .flat_map(|bare| bare.captures_iter(question))
        .filter_map(|found| found.get(1))
        .map(|word| word.as_str())
        .collect();
    let mut named = Vec::new();
    for found in DATE.captures_iter(question) {
        let number =
            |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok());
        let (word, day, year) =
            (found.get(2).map_or("", |word| word.as_str()), number(1).or(number(3)), number(4));
        if WORDS.split('|').any(|of| of == word)
            && day.is_none()
            && year.is_none()
            && !bare.contains(&word)
        {
            continue;
        }
        let month = (1..)
            .zip(MONTHS)
            .find(|(_, month)| word.starts_with(&month[..3]))
            .map_or(1, |(number, _)| number);
        named.push((
            place(&found),
            Named { year: year.and_then(|year| i32::try_from(year).ok()), month, day },
        ));
    }
    for found in ISO.captures_iter(question) {
        let number =
            |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok());
        let (year, month) =
            (number(1).and_then(|year| i32::try_from(year).ok()), number(2).unwrap_or(0));
        named.push((place(&found), Named { year, month, day: number(3) }));
    }
    named
}

fn place(found: &Captures<'_>) -> Range<usize> {
    found.get(0).map_or(0..0, |date| date.start()..date.start() + date.as_str().trim_end().len())
}

impl Named {
    /// Its first and last day in a year, if that has them.
    pub(crate) fn of_year(self, year: i32) -> Option<(i32, i32)> {
        let first = NaiveDate::from_ymd_opt(year, self.month, self.day.unwrap_or(1))?;
        let last = if self.day.is_some() {
            first
        } else {
            first.checked_add_months(chrono::Months::new(1))?.pred_opt()?
        };
        Some((first.num_days_from_ce(), last.num_days_from_ce()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_their_usual_forms() {
        let date = |year, month, day| Named { year, month, day };
        let named = |question: &str| {
            named(&question.to_lowercase()).into_iter().map(|(_, date)| date).collect::<Vec<_>>()
        };
        assert_eq!(named("What happened on 8 May, 2023?"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(named("on the 8th of May"), [date(None, 5, Some(8))]);
        assert_eq!(named("on Sept. 3rd 2024"), [date(Some(2024), 9, Some(3))]);
        assert_eq!(
            named("in December of 2022 or January"),
            [date(Some(2022), 12, None), date(None, 1, None)]
        );
        assert_eq!(named("before 2023-05-08"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(named("what broke in 2024-05?"), [date(Some(2024), 5, None)]);
        assert_eq!(named("in 2024 May"), []);
        assert_eq!(
            named("since Jan, and until 3 Dec"),
            [date(None, 1, None), date(None, 12, Some(3))]
        );
        assert_eq!(named("since May"), [date(None, 5, None)]);
        assert_eq!(named("between March and May"), [date(None, 3, None), date(None, 5, None)]);
        assert_eq!(named("May I march in March?"), [date(None, 3, None), date(None, 3, None)]);
        assert!(named("What did Jan say of the APR?").is_empty());
        assert!(
            named("May I march?").is_empty() && named("the decimal system, marching").is_empty()
        );
    }

    #[test]
    fn a_date_has_its_days_in_the_years_that_have_them() {
        let days = |question: &str, year| {
            named(question)[0].1.of_year(year).map(|(first, last)| last - first + 1)
        };
        assert_eq!(
            (days("in february", 2024), days("in february", 2023), days("29 february", 2024)),
            (Some(29), Some(28), Some(1))
        );
        assert_eq!(days("29 february", 2023), None);
    }
}
