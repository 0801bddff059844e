//! Dates by the calendar that a question names, and how near to them a day is. Pure.
//!
//! Source: DATE, `dates` and `when` of the reference. Not here: where the day of a memory comes from
//! (`index`), times as seen from today (`relative`).

use super::span::{Side, Span};
use chrono::{Datelike, NaiveDate};
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let short = MONTHS.iter().map(|month| &month[..3]);
    let months: Vec<&str> = MONTHS.into_iter().chain(short).chain(["sept"]).collect();
    let day = r"(\d{1,2})(?:st|nd|rd|th)?";
    let pattern = format!(r"(?:{day}(?: of)? )?\b({})\b\.?(?: {day}\b)?(?:,? (?:of )?(20\d\d))?", months.join("|"));
    Regex::new(&pattern).expect("is a pattern")
});
static ISO: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(20\d\d)-(\d\d)-(\d\d)\b").expect("is a pattern"));
static BARE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:in|on|of|during|since|before|after|until|till|by) (may|mar|march)\b").expect("is a pattern"));

/// A month, or a day of it, of one year or of any, or what lies on one side of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    year: Option<i32>,
    month: u32,
    day: Option<u32>,
    side: Side,
}

/// The dates that a question names. "may" and "march" alone are months only after a word such as "in".
pub(crate) fn named(question: &str) -> Vec<Named> {
    let question = question.to_lowercase();
    let bare: Vec<&str> = BARE.captures_iter(&question).filter_map(|found| found.get(1)).map(|word| word.as_str()).collect();
    let mut named = Vec::new();
    for found in DATE.captures_iter(&question) {
        let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok());
        let (word, day, year) = (found.get(2).map_or("", |word| word.as_str()), number(1).or(number(3)), number(4));
        if ["may", "mar", "march"].contains(&word) && day.is_none() && year.is_none() && !bare.contains(&word) {
            continue;
        }
        let month = (1..).zip(MONTHS).find(|(_, month)| word.starts_with(&month[..3])).map_or(1, |(number, _)| number);
        named.push(Named { year: year.and_then(|year| i32::try_from(year).ok()), month, day, side: side(&question, &found) });
    }
    for found in ISO.captures_iter(&question) {
        let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok()).unwrap_or(0);
        named.push(Named { year: i32::try_from(number(1)).ok(), month: number(2), day: Some(number(3)), side: side(&question, &found) });
    }
    named
}

fn side(question: &str, found: &Captures<'_>) -> Side {
    found.get(0).map_or(Side::At, |date| Side::at(question, date.range()))
}

/// How near each day is to the nearest named date or time, 0 to 1; 1 inside its span, 0 for an unknown day.
pub(crate) fn nearness(named: &[Named], times: &[Span], days: &[Option<i32>], today: i32) -> Vec<f64> {
    let mut nearness = vec![0.0_f64; days.len()];
    if named.is_empty() && times.is_empty() {
        return nearness;
    }
    let known = days.iter().flatten().collect::<BTreeSet<_>>();
    let years: BTreeSet<i32> = known.into_iter().filter_map(|day| NaiveDate::from_num_days_from_ce_opt(*day)).map(|d| d.year()).collect();
    for span in named.iter().flat_map(|date| spans(*date, &years, today)).chain(times.iter().copied()) {
        for (near, day) in nearness.iter_mut().zip(days) {
            *near = near.max(day.map_or(0.0, |day| span.nearness(day)));
        }
    }
    nearness
}

/// What a date means: without a year that of every year of which there are memories, or, where it is a beginning or an end, the last one.
fn spans(date: Named, years: &BTreeSet<i32>, today: i32) -> Vec<Span> {
    let mut meant: Vec<(i32, i32)> = match date.year {
        Some(year) => of_year(date, year).into_iter().collect(),
        None => years.iter().filter_map(|year| of_year(date, *year)).collect(),
    };
    if date.side != Side::At && date.year.is_none() {
        let last = meant.iter().rposition(|(first, _)| *first <= today).unwrap_or(0);
        meant = meant.get(last).copied().into_iter().collect();
    }
    meant.into_iter().map(|days| Span::new(days, date.side, today)).collect()
}

fn of_year(date: Named, year: i32) -> Option<(i32, i32)> {
    let first = NaiveDate::from_ymd_opt(year, date.month, date.day.unwrap_or(1))?;
    let last = if date.day.is_some() { first } else { first.checked_add_months(chrono::Months::new(1))?.pred_opt()? };
    Some((first.num_days_from_ce(), last.num_days_from_ce()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: Option<i32>, month: u32, day: Option<u32>) -> Named {
        Named { year, month, day, side: Side::At }
    }

    #[test]
    fn dates_are_read_in_their_usual_forms() {
        assert_eq!(named("What happened on 8 May, 2023?"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(named("on the 8th of May"), [date(None, 5, Some(8))]);
        assert_eq!(named("on Sept. 3rd 2024"), [date(Some(2024), 9, Some(3))]);
        assert_eq!(named("in December of 2022 or January"), [date(Some(2022), 12, None), date(None, 1, None)]);
        assert_eq!(named("before 2023-05-08"), [Named { side: Side::Before, ..date(Some(2023), 5, Some(8)) }]);
        assert_eq!(named("since May"), [Named { side: Side::Since, ..date(None, 5, None) }]);
        assert_eq!(named("May I march in March?"), [date(None, 3, None), date(None, 3, None)]);
        assert!(named("May I march?").is_empty() && named("the decimal system, marching").is_empty());
    }

    #[test]
    fn nearness_is_whole_inside_and_fades_faster_before_than_after() {
        let day = |text: &str| crate::soft::text::day(text);
        let days = [day("2023-05-01"), day("2023-05-31"), day("2023-04-28"), day("2023-06-10"), None];
        let near = nearness(&named("in May 2023"), &[], &days, 0);
        let expected = [1.0, 1.0, (-1.0_f64).exp(), (-1.0_f64).exp(), 0.0];
        assert!(near.iter().zip(expected).all(|(near, expected)| (near - expected).abs() < 1e-12), "{near:?}");
        assert_eq!(nearness(&named("in december"), &[], &[day("2022-12-31"), day("2021-12-01")], 0), [1.0, 1.0], "any year that is known");
        assert_eq!(nearness(&named("on 31 February 2023"), &[], &days, 0), [0.0; 5]);
        let week = Span::new((day("2023-04-24").expect("is a day"), day("2023-04-30").expect("is a day")), Side::At, 0);
        assert!((nearness(&[], &[week], &days, 0)[2] - 1.0).abs() < 1e-12 && nearness(&[], &[week], &days, 0)[1] < 0.1);
    }

    #[test]
    fn a_beginning_without_a_year_is_the_last_one() {
        let day = |text: &str| crate::soft::text::day(text);
        let today = day("2026-02-01").expect("is a day");
        let days = [day("2024-04-01"), day("2025-02-27"), day("2025-03-01"), day("2026-01-31")];
        let near = |question: &str| nearness(&named(question), &[], &days, today);
        assert_eq!(near("since March"), [0.0, 0.0, 1.0, 1.0]);
        let before = near("before March");
        assert!((0.2..0.25).contains(&before[0]) && before[1] > 0.9 && before[2..] == [0.0; 2], "{before:?}");
        assert!(near("before 1 March 2024").iter().all(|near| *near == 0.0));
    }
}
