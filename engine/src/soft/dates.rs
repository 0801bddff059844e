//! Dates by the calendar that a question names, and how near to them a day is. Pure.
//!
//! Source: DATE, `dates` and `when` of the reference. Not here: where the day of a memory comes from
//! (`index`), times as seen from today (`relative`).

use super::relative::Span;
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Days after which the nearness of a day before the span has fallen to 1/e.
const BEFORE: f64 = 3.0;
/// The same after the span: people tell things a little later.
const AFTER: f64 = 10.0;

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
    LazyLock::new(|| Regex::new(r"\b(?:in|on|of|during|since|until|by) (may|mar|march)\b").expect("is a pattern"));

/// A month, or a day of it, of one year or of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    year: Option<i32>,
    month: u32,
    day: Option<u32>,
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
        named.push(Named { year: year.and_then(|year| i32::try_from(year).ok()), month, day });
    }
    for found in ISO.captures_iter(&question) {
        let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u32>().ok()).unwrap_or(0);
        named.push(Named { year: i32::try_from(number(1)).ok(), month: number(2), day: Some(number(3)) });
    }
    named
}

/// How near each day is to the nearest named date or time, 0 to 1; 1 inside its span, 0 for an unknown day.
pub(crate) fn nearness(named: &[Named], times: &[Span], days: &[Option<i32>]) -> Vec<f64> {
    let mut nearness = vec![0.0_f64; days.len()];
    if named.is_empty() && times.is_empty() {
        return nearness;
    }
    let known = days.iter().flatten().collect::<BTreeSet<_>>();
    let years: BTreeSet<i32> = known.into_iter().filter_map(|day| NaiveDate::from_num_days_from_ce_opt(*day)).map(|d| d.year()).collect();
    let spans_of = |date: &Named| match date.year {
        Some(year) => span(*date, year).into_iter().collect::<Vec<_>>(),
        None => years.iter().filter_map(|year| span(*date, *year)).collect(),
    };
    for (first, last) in named.iter().flat_map(spans_of).chain(times.iter().copied()) {
        for (near, day) in nearness.iter_mut().zip(days) {
            *near = near.max(day.map_or(0.0, |day| close(day, first, last)));
        }
    }
    nearness
}

fn span(date: Named, year: i32) -> Option<(i32, i32)> {
    let first = NaiveDate::from_ymd_opt(year, date.month, date.day.unwrap_or(1))?;
    let last = if date.day.is_some() { first } else { first.checked_add_months(chrono::Months::new(1))?.pred_opt()? };
    Some((first.num_days_from_ce(), last.num_days_from_ce()))
}

fn close(day: i32, first: i32, last: i32) -> f64 {
    if day < first {
        (-f64::from(first - day) / BEFORE).exp()
    } else if day > last {
        (-f64::from(day - last) / AFTER).exp()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: Option<i32>, month: u32, day: Option<u32>) -> Named {
        Named { year, month, day }
    }

    #[test]
    fn dates_are_read_in_their_usual_forms() {
        assert_eq!(named("What happened on 8 May, 2023?"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(named("on the 8th of May"), [date(None, 5, Some(8))]);
        assert_eq!(named("on Sept. 3rd 2024"), [date(Some(2024), 9, Some(3))]);
        assert_eq!(named("in December of 2022 or January"), [date(Some(2022), 12, None), date(None, 1, None)]);
        assert_eq!(named("before 2023-05-08"), [date(Some(2023), 5, Some(8))]);
        assert_eq!(named("May I march in March?"), [date(None, 3, None), date(None, 3, None)]);
        assert!(named("May I march?").is_empty() && named("the decimal system, marching").is_empty());
    }

    #[test]
    fn nearness_is_whole_inside_and_fades_faster_before_than_after() {
        let day = |text: &str| crate::soft::text::day(text);
        let days = [day("2023-05-01"), day("2023-05-31"), day("2023-04-28"), day("2023-06-10"), None];
        let near = nearness(&named("in May 2023"), &[], &days);
        let expected = [1.0, 1.0, (-1.0_f64).exp(), (-1.0_f64).exp(), 0.0];
        assert!(near.iter().zip(expected).all(|(near, expected)| (near - expected).abs() < 1e-12), "{near:?}");
        assert_eq!(nearness(&named("in december"), &[], &[day("2022-12-31"), day("2021-12-01")]), [1.0, 1.0], "any year that is known");
        assert_eq!(nearness(&named("on 31 February 2023"), &[], &days), [0.0; 5]);
        let week = (day("2023-04-24").expect("is a day"), day("2023-04-30").expect("is a day"));
        assert!((nearness(&[], &[week], &days)[2] - 1.0).abs() < 1e-12 && nearness(&[], &[week], &days)[1] < 0.1);
    }
}
