//! Times relative to the day of the query: "yesterday", "last week", "three months ago". English
//! only. Pure.
//!
//! docs/retrieval.md compares the date-parsing crates and says why none is used. Not here: calendar
//! dates (`calendar`), other languages (`cldr`).

use crate::text::dates::span::DayRange;
use chrono::{Datelike, Days, Months, NaiveDate, TimeDelta, Weekday};
use regex::{Captures, Regex};
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

/// Length of "recently" in days.
const RECENT_DAYS: u64 = 14;
/// Tolerance of "three weeks ago" in days, on each side.
const WEEK_TOLERANCE: u64 = 3;
/// Tolerance of "three months ago" in days, on each side.
const MONTH_TOLERANCE: u64 = 15;

/// A number more than this many years in the future is not a year: "after 2048 tokens".
const MAX_YEARS_AHEAD: i32 = 10;

const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The first and the last date of a time.
type DateRange = RangeInclusive<NaiveDate>;

/// Resolves a match to dates, given the day of the query; `None` beyond the calendar.
type Resolve = fn(&Captures<'_>, NaiveDate) -> Option<DateRange>;

/// A pattern and how its matches are resolved. The group `time`, or else the whole match, is the
/// time expression.
struct Rule {
    pattern: LazyLock<Regex>,
    resolve: Resolve,
}

macro_rules! rule {
    ($text:literal, $resolve:expr) => {
        Rule {
            pattern: LazyLock::new(|| Regex::new($text).expect("the pattern compiles")),
            resolve: $resolve,
        }
    };
}

static RULES: [Rule; 9] = [
    rule!(
        r"\b(day before yesterday|yesterday|last night|today|tonight|this (?:morning|afternoon|evening)|tomorrow)\b",
        one_day
    ),
    rule!(r"\b(this|last|previous|next) (week|weekend|month|year)\b", by_calendar),
    rule!(
        r"\b(?:last|since) (?<time>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
        last_weekday
    ),
    rule!(
        r"\b(\d{1,3}|an?|a couple of|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (minute|hour|day|week|month|year)s? ago\b",
        ago
    ),
    rule!(
        r"\b(?:last|past) (\d{1,3}|couple of|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (minute|hour|day|week|month|year)s?\b",
        last_period
    ),
    rule!(r"\b(?:last|past)( )(hour)\b", last_period),
    rule!(r"\bpast( )(week|month|year)\b", last_period),
    rule!(r"\b(?:recently|lately)\b", |_, today| Some(
        today.checked_sub_days(Days::new(RECENT_DAYS))?..=today
    )),
    rule!(
        r"\b(?:in|during|throughout|since|before|after|until|till|from) (?<time>20\d\d)\b(?:[^-]|$)",
        |found, today| whole_year(
            found[1]
                .parse()
                .ok()
                .filter(|year| *year <= today.year().saturating_add(MAX_YEARS_AHEAD))?
        )
    ),
];

/// Parses the relative times of a query, with their byte ranges and days. The query must be in
/// lower case.
pub fn parse(query: &str, today: i32) -> Vec<(Range<usize>, DayRange)> {
    let Some(date) = NaiveDate::from_num_days_from_ce_opt(today) else { return Vec::new() };
    let matches = |rule: &Rule| {
        let days = |found: Captures<'_>| {
            let dates = (rule.resolve)(&found, date)?;
            let range = found.name("time").or(found.get(0))?.range();
            Some((
                range,
                DayRange {
                    first: dates.start().num_days_from_ce(),
                    last: dates.end().num_days_from_ce(),
                },
            ))
        };
        rule.pattern.captures_iter(query).filter_map(days).collect::<Vec<_>>()
    };
    RULES.iter().flat_map(matches).collect()
}

fn one_day(found: &Captures<'_>, today: NaiveDate) -> Option<DateRange> {
    let day = match &found[1] {
        "day before yesterday" => today.checked_sub_days(Days::new(2))?,
        "yesterday" | "last night" => today.pred_opt()?,
        "tomorrow" => today.succ_opt()?,
        _ => today,
    };
    Some(day..=day)
}

/// Resolves "this week", "next month".
fn by_calendar(found: &Captures<'_>, today: NaiveDate) -> Option<DateRange> {
    let periods_ahead = match &found[1] {
        "this" => 0,
        "next" => 1,
        _ => -1,
    };
    period(&found[2], periods_ahead, today)
}

/// The days of a week, weekend, month or year: the present one, or one of those before and after it.
/// Weeks begin on Monday; the present one counts as a whole.
pub(super) fn period(unit: &str, periods_ahead: i32, today: NaiveDate) -> Option<DateRange> {
    let monday = today
        .week(Weekday::Mon)
        .checked_first_day()?
        .checked_add_signed(TimeDelta::weeks(periods_ahead.into()))?;
    match unit {
        "week" => Some(monday..=monday.checked_add_days(Days::new(6))?),
        "weekend" => {
            let saturday = monday.checked_add_days(Days::new(5))?;
            Some(saturday..=saturday.succ_opt()?)
        }
        "month" => {
            let (first, months) = (today.with_day(1)?, periods_ahead.unsigned_abs());
            let first = if periods_ahead > 0 {
                first.checked_add_months(Months::new(months))?
            } else {
                months_before(first, months)?
            };
            Some(first..=first.checked_add_months(Months::new(1))?.pred_opt()?)
        }
        _ => whole_year(today.year().checked_add(periods_ahead)?),
    }
}

/// Resolves "last Monday".
fn last_weekday(found: &Captures<'_>, today: NaiveDate) -> Option<DateRange> {
    let wanted = u32::try_from(WEEKDAYS.iter().position(|name| *name == &found[1])?).ok()?;
    // On a Monday, "last Monday" is seven days ago.
    let days_back = (today.weekday().num_days_from_monday() + 6 - wanted) % 7 + 1;
    let day = today.checked_sub_days(Days::new(u64::from(days_back)))?;
    Some(day..=day)
}

/// Resolves "three weeks ago".
fn ago(found: &Captures<'_>, today: NaiveDate) -> Option<DateRange> {
    let (count, unit) = (number(&found[1])?, &found[2]);
    let day = before(today, count, unit)?;
    let with_tolerance = |days: u64| {
        Some(day.checked_sub_days(Days::new(days))?..=day.checked_add_days(Days::new(days))?)
    };
    match unit {
        // Memories and queries are dated to the day.
        "minute" | "hour" => Some(day..=today),
        "day" => Some(day..=day),
        "week" => with_tolerance(WEEK_TOLERANCE),
        "month" => with_tolerance(MONTH_TOLERANCE),
        _ => whole_year(day.year()),
    }
}

/// Resolves "the last three weeks".
fn last_period(found: &Captures<'_>, today: NaiveDate) -> Option<DateRange> {
    Some(before(today, number(&found[1])?, &found[2])?..=today)
}

/// The date `count` units before today.
fn before(today: NaiveDate, count: u32, unit: &str) -> Option<NaiveDate> {
    match unit {
        "minute" => Some(today),
        "hour" => today.checked_sub_days(Days::new((count / 24).into())),
        "day" => today.checked_sub_days(Days::new(count.into())),
        "week" => today.checked_sub_days(Days::new(u64::from(count) * 7)),
        "month" => months_before(today, count),
        _ => months_before(today, count.checked_mul(12)?),
    }
}

fn months_before(day: NaiveDate, months: u32) -> Option<NaiveDate> {
    day.checked_sub_months(Months::new(months))
}

fn whole_year(year: i32) -> Option<DateRange> {
    Some(NaiveDate::from_ymd_opt(year, 1, 1)?..=NaiveDate::from_ymd_opt(year, 12, 31)?)
}

fn number(word: &str) -> Option<u32> {
    match word.trim() {
        "" | "a" | "an" => Some(1),
        "a couple of" | "couple of" => Some(2),
        word => word.parse().ok().or_else(|| {
            NUMBERS.iter().zip(1..).find(|(name, _)| **name == word).map(|(_, number)| number)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Wednesday, 13 May 2026.
    const TODAY: &str = "2026-05-13";

    fn day(text: &str) -> i32 {
        crate::text::features::day(text).expect("the text is a date")
    }

    fn days(question: &str) -> Vec<(i32, i32)> {
        parse(&question.to_lowercase(), day(TODAY))
            .into_iter()
            .map(|(_, days)| (days.first, days.last))
            .collect()
    }

    #[test]
    fn a_time_is_resolved_relative_to_the_day_of_the_query() {
        for (question, first, last) in [
            ("What did we do today?", "2026-05-13", "2026-05-13"),
            ("what broke Yesterday", "2026-05-12", "2026-05-12"),
            ("the day before yesterday", "2026-05-11", "2026-05-11"),
            ("what was decided last week?", "2026-05-04", "2026-05-10"),
            ("this week", "2026-05-11", "2026-05-17"),
            ("last weekend", "2026-05-09", "2026-05-10"),
            ("the past week", "2026-05-06", "2026-05-13"),
            ("Who joined last month?", "2026-04-01", "2026-04-30"),
            ("next month", "2026-06-01", "2026-06-30"),
            ("last year", "2025-01-01", "2025-12-31"),
            ("last Tuesday", "2026-05-12", "2026-05-12"),
            ("last wednesday", "2026-05-06", "2026-05-06"),
            ("last Thursday", "2026-05-07", "2026-05-07"),
            ("three days ago", "2026-05-10", "2026-05-10"),
            ("a week ago", "2026-05-03", "2026-05-09"),
            ("2 months ago", "2026-02-26", "2026-03-28"),
            ("two years ago", "2024-01-01", "2024-12-31"),
            ("in the last 10 days", "2026-05-03", "2026-05-13"),
            ("over the past couple of weeks", "2026-04-29", "2026-05-13"),
            ("what changed recently", "2026-04-29", "2026-05-13"),
            ("what came in since Monday", "2026-05-11", "2026-05-11"),
            ("what did we try an hour ago", "2026-05-13", "2026-05-13"),
            ("20 minutes ago", "2026-05-13", "2026-05-13"),
            ("in the last 24 hours", "2026-05-12", "2026-05-13"),
            ("the past hour", "2026-05-13", "2026-05-13"),
            ("what happened in 2024?", "2024-01-01", "2024-12-31"),
            ("who came after 2024?", "2024-01-01", "2024-12-31"),
        ] {
            assert_eq!(days(question), [(day(first), day(last))], "{question}");
        }
    }

    #[test]
    fn a_text_without_a_relative_time_has_none() {
        for question in [
            "the last invoice",
            "at last",
            "a change at the last minute",
            "before the release",
            "a weekly report",
            "days of yore",
            "on Monday",
            "in March",
            "in 2023-05-08",
            "in 2024-03",
            "after 2048 tokens",
            "Room 2024",
            "it lasted three weeks",
            "todays",
            "",
        ] {
            assert!(days(question).is_empty(), "{question}: {:?}", days(question));
        }
    }

    proptest! {
        #[test]
        fn the_first_day_is_never_after_the_last(question in "(\\PC{0,8} )?(last|past|this|next)? ?[0-9]{0,3} ?(minute|hour|day|week|month|year|weekend)s?( ago)?", today in any::<i32>()) {
            prop_assert!(parse(&question, today).iter().all(|(_, days)| days.first <= days.last));
        }
    }
}
