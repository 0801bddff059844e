//! The times that one query refers to, resolved to days. Pure.
//!
//! Source: `when` of the reference. Not here: parsing (`calendar`, `relative`), events
//! (`event_reference`), the day of a memory (`index`).

use crate::text::dates::calendar;
use crate::text::dates::calendar::CalendarDate;
use crate::text::dates::relative;
use crate::text::dates::span::{DateSpan, DayRange, FILLERS, Relation};
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

/// Marks a query about the future, in which "before December" means before the next one.
static ABOUT_FUTURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(must|should|shall|will|ought|have to|has to|needs? to|what to|due)\b")
        .expect("is a pattern")
});
/// Matches the text before the first time of "from March until June".
static FROM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\b(?:from|between)(?: (?:{}))* $", FILLERS.join("|")))
        .expect("is a pattern")
});
/// Matches the text between the two times of "from March until June".
static UNTIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"^,? (?:until|till|to|and|through)(?: (?:{}))* $", FILLERS.join("|")))
        .expect("is a pattern")
});

/// The times that a query refers to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DateReferences {
    named: Vec<Reference>,
    /// The times around events.
    events: Vec<DateSpan>,
    about_future: bool,
    /// The day of the query.
    today: i32,
}

#[derive(Debug, Clone, PartialEq)]
enum Reference {
    One(RelatedTime),
    /// From the first time to the second.
    Between(RelatedTime, RelatedTime),
}

/// A time, and the relation of the requested time to it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RelatedTime {
    time: Time,
    relation: Relation,
}

/// A time as the query expresses it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Time {
    Calendar(CalendarDate),
    Days(DayRange),
}

impl Time {
    /// Its days, if they do not depend on an unnamed year.
    fn fixed_days(self) -> Option<DayRange> {
        match self {
            Self::Days(days) => Some(days),
            Self::Calendar(date) => date.in_year(date.year?),
        }
    }
}

/// A time and its byte range in the query.
struct FoundTime {
    range: Range<usize>,
    time: RelatedTime,
}

impl DateReferences {
    /// Parses the times of a query that is asked on the day `today`.
    pub(crate) fn parse(query: &str, today: i32) -> Self {
        let query = query.to_lowercase();
        let dates =
            calendar::parse(&query).into_iter().map(|(range, date)| (range, Time::Calendar(date)));
        let relative = relative::parse(&query, today)
            .into_iter()
            .map(|(range, days)| (range, Time::Days(days)));
        let mut found: Vec<FoundTime> = dates
            .chain(relative)
            .map(|(range, time)| {
                let relation = Relation::before_time(&query[..range.start]);
                FoundTime { range, time: RelatedTime { time, relation } }
            })
            .collect();
        found.sort_by_key(|time| time.range.start);
        let ends =
            if let [first, second] = &found[..] { ends(&query, first, second) } else { None };
        let named = match ends {
            Some((first, second)) => vec![Reference::Between(first, second)],
            None => found.into_iter().map(|found| Reference::One(found.time)).collect(),
        };
        Self { named, events: Vec::new(), about_future: ABOUT_FUTURE.is_match(&query), today }
    }

    /// Adds the time in this relation to an event that happened on `day`.
    pub(crate) fn add_event(&mut self, day: i32, relation: Relation) {
        self.events.push(DateSpan::around_event(day, relation, self.today));
    }

    /// Whether the query refers to no time.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.events.is_empty()
    }

    /// How near each day is to the nearest time, 0 to 1; 1 inside its span, 0 for an unknown day. A
    /// date without a year is resolved to the years of these days.
    pub(crate) fn proximity(&self, days: &[Option<i32>]) -> Vec<f64> {
        let mut proximity = vec![0.0_f64; days.len()];
        if self.is_empty() {
            return proximity;
        }
        let known = days.iter().flatten().collect::<BTreeSet<_>>();
        let years: BTreeSet<i32> = known.into_iter().filter_map(|day| year(*day)).collect();
        for span in self
            .named
            .iter()
            .flat_map(|reference| self.spans(reference, &years))
            .chain(self.events.iter().copied())
        {
            for (near, day) in proximity.iter_mut().zip(days) {
                *near = near.max(day.map_or(0.0, |day| span.proximity(day)));
            }
        }
        proximity
    }

    fn spans(&self, reference: &Reference, years: &BTreeSet<i32>) -> Vec<DateSpan> {
        let one = |related: RelatedTime| {
            self.days(related, years)
                .into_iter()
                .map(move |days| DateSpan::new(days, related.relation, self.today))
        };
        match *reference {
            Reference::One(time) => one(time).collect(),
            Reference::Between(first, second) => match self.between(first, second, years) {
                Some(span) => vec![span],
                None => one(first).chain(one(second)).collect(),
            },
        }
    }

    /// The days of a time. A date without a year means every year that has memories; as a beginning
    /// or an end the last such year up to today; as an end in a query about the future the next
    /// one.
    fn days(&self, related: RelatedTime, years: &BTreeSet<i32>) -> Vec<DayRange> {
        let date = match related.time {
            Time::Days(days) => return vec![days],
            Time::Calendar(date) => date,
        };
        if let Some(year) = date.year {
            return date.in_year(year).into_iter().collect();
        }
        if self.about_future && [Relation::Before, Relation::Until].contains(&related.relation) {
            return in_years_around(date, self.today, 0..=1)
                .find(|days| days.first >= self.today)
                .into_iter()
                .collect();
        }
        let known: Vec<DayRange> = years.iter().filter_map(|year| date.in_year(*year)).collect();
        if related.relation == Relation::At {
            return known;
        }
        let last = known.iter().rposition(|days| days.first <= self.today).unwrap_or(0);
        known.get(last).copied().into_iter().collect()
    }

    /// The span from one time to another; `None` if they are the wrong way round. A year that only
    /// one of them names applies to both as far as their order permits.
    fn between(
        &self,
        first: RelatedTime,
        second: RelatedTime,
        years: &BTreeSet<i32>,
    ) -> Option<DateSpan> {
        let end = match (first.time.fixed_days(), second.time) {
            (Some(begin), Time::Calendar(date)) if date.year.is_none() => {
                in_years_around(date, begin.first, 0..=1).find(|days| days.last >= begin.first)?
            }
            _ => *self.days(second, years).first()?,
        };
        let begin = match first.time {
            Time::Calendar(date) if date.year.is_none() => in_years_around(date, end.last, -1..=0)
                .filter(|days| days.first <= end.last)
                .last()?,
            _ => first.time.fixed_days()?,
        };
        let days = DayRange {
            first: if first.relation == Relation::After {
                begin.last.saturating_add(1)
            } else {
                begin.first
            },
            last: if second.relation == Relation::Before {
                end.first.saturating_sub(1)
            } else {
                end.last
            },
        };
        (days.first <= days.last).then(|| DateSpan::new(days, Relation::At, self.today))
    }
}

/// The beginning and the end, if two times are the ends of one span: "from March until June",
/// "after March and before June".
fn ends(query: &str, a: &FoundTime, b: &FoundTime) -> Option<(RelatedTime, RelatedTime)> {
    let (first, second) = (a.time, b.time);
    if FROM.is_match(&query[..a.range.start])
        && query.get(a.range.end..b.range.start).is_some_and(|gap| UNTIL.is_match(gap))
    {
        return Some((
            RelatedTime { relation: Relation::Since, ..first },
            RelatedTime { relation: Relation::Until, ..second },
        ));
    }
    let begins = |time: RelatedTime| [Relation::After, Relation::Since].contains(&time.relation);
    let ends = |time: RelatedTime| [Relation::Before, Relation::Until].contains(&time.relation);
    match (first, second) {
        _ if begins(first) && ends(second) => Some((first, second)),
        _ if ends(first) && begins(second) => Some((second, first)),
        _ => None,
    }
}

/// The days of a date in the years around that of `day`; `offsets` are years.
fn in_years_around(
    date: CalendarDate,
    day: i32,
    offsets: RangeInclusive<i32>,
) -> impl Iterator<Item = DayRange> {
    let year = year(day);
    offsets.filter_map(move |offset| date.in_year(year?.checked_add(offset)?))
}

fn year(day: i32) -> Option<i32> {
    Some(NaiveDate::from_num_days_from_ce_opt(day)?.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday, 13 May 2026.
    const TODAY: &str = "2026-05-13";

    fn day(text: &str) -> i32 {
        crate::text::features::day(text).expect("is a day")
    }

    /// The proximity of each day, in percent.
    #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
    fn near<const DAYS: usize>(question: &str, days: [&str; DAYS]) -> [i32; DAYS] {
        let near = DateReferences::parse(question, day(TODAY))
            .proximity(&days.map(|text| Some(day(text))));
        let percent: Vec<i32> = near.iter().map(|near| (near * 100.0).round() as i32).collect();
        percent.try_into().expect("one each")
    }

    #[test]
    fn proximity_is_1_inside_and_falls_faster_before_than_after() {
        assert_eq!(
            near("in May 2023", ["2023-05-01", "2023-05-31", "2023-04-28", "2023-06-10"]),
            [100, 100, 37, 37]
        );
        assert!(
            DateReferences::parse("in May 2023", day(TODAY)).proximity(&[None])[0] <= 0.0,
            "an unknown day"
        );
    }

    #[test]
    fn a_month_without_a_year_is_that_of_every_year_and_as_an_end_the_last() {
        assert_eq!(near("in december", ["2022-12-31", "2021-12-01"]), [100, 100]);
        assert_eq!(near("on 31 February 2023", ["2023-03-01"]), [0]);
        assert_eq!(
            near("since March", ["2024-04-01", "2025-03-01", "2026-02-01", "2026-03-31"])[..3],
            [0; 3]
        );
        assert_eq!(
            near("since June", ["2024-07-01", "2025-05-31", "2025-06-01", "2026-01-31"]),
            [0, 0, 100, 100]
        );
        let before = near("before June", ["2024-06-01", "2025-05-27", "2025-06-01", "2026-01-31"]);
        assert!(
            (15..25).contains(&before[0]) && before[1] > 90 && before[2..] == [0; 2],
            "{before:?}"
        );
    }

    #[test]
    fn a_deadline_without_a_year_is_the_next_one() {
        for question in [
            "What must be finished before June?",
            "what will be ready until june",
            "what is due before june",
        ] {
            let near = near(question, ["2025-05-30", "2026-05-13", "2026-06-15"]);
            assert!(near[0] < 1 && near[1..] == [100, 100], "{question}: {near:?}");
        }
        assert!(near("What was finished before June?", ["2025-05-30"])[0] > 90);
        assert!(
            near("What must be finished before March?", ["2026-05-14", "2027-03-31"])
                .iter()
                .all(|near| *near > 90),
            "of next year"
        );
    }

    #[test]
    fn two_times_may_be_the_ends_of_one_span() {
        for question in [
            "What broke from September until October?",
            "from september to the late october",
            "between September and October",
            "from September 2025 until October 2025",
            "between September and October 2025",
            "from September 2025 through October",
            "since September and until October",
            "Until October, and since September",
            "after August and before November",
        ] {
            let near = near(question, ["2025-08-01", "2025-09-01", "2025-10-31", "2026-01-15"]);
            assert!(
                near[0] < 10 && near[1..3] == [100, 100] && near[3] < 10,
                "{question}: {near:?}"
            );
        }
        assert_eq!(
            near("from november until february", ["2025-10-01", "2025-11-01", "2026-02-28"])[1..],
            [100, 100],
            "over the new year"
        );
        assert_eq!(
            near("from 2023 until 2024", ["2022-06-01", "2023-06-01", "2024-06-01", "2026-01-01"]),
            [0, 100, 100, 0]
        );
        assert_eq!(
            near("between last Monday and yesterday", ["2026-05-11", "2026-05-12"]),
            [100, 100]
        );
        assert_eq!(
            near("before May 2024 and after June 2025", ["2024-04-30", "2025-07-01", "2025-01-01"]),
            [100, 100, 0],
            "either"
        );
        assert_eq!(near("in September and in October", ["2025-09-30", "2025-10-01"]), [100, 100]);
    }

    #[test]
    fn a_time_may_be_the_end_of_the_requested_span_or_its_beginning() {
        for (question, within, without) in [
            ("what broke since yesterday", "2026-05-12", "2026-05-11"),
            ("before last week", "2026-05-03", "2026-05-04"),
            ("until last week", "2026-05-10", "2026-05-11"),
            ("before last Monday", "2026-05-10", "2026-05-11"),
            ("since the day before yesterday", "2026-05-11", "2026-05-10"),
            ("what came in since Monday", "2026-05-11", "2026-05-10"),
            ("what changed since 2024?", "2024-01-01", "2023-12-31"),
            ("who came after 2024?", "2025-01-01", "2024-12-31"),
        ] {
            assert_eq!(near(question, [within, without]), [100, 0], "{question}");
        }
    }
}
