//! The times that a question names, by the calendar or as seen from its own day, and which days they mean. Pure.
//!
//! Source: `when` of the reference. Not here: how they are written (`dates`, `relative`), times told by what happened (`happened`), where the
//! day of a memory comes from (`index`).

pub(crate) mod calendar;
pub(crate) mod event_reference;
pub(crate) mod relative;
pub(crate) mod span;

use calendar::Named;
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use span::{BETWEEN, Side, Span};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Who asks so asks for what is to come: "before December" is before the next.
static TO_COME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(must|should|shall|will|ought|have to|has to|needs? to|what to|due)\b")
        .expect("is a pattern")
});
/// What stands before the first and between the two times of "from March until June".
static FROM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\b(?:from|between)(?: (?:{}))* $", BETWEEN.join("|")))
        .expect("is a pattern")
});
static UNTIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"^,? (?:until|till|to|and|through)(?: (?:{}))* $", BETWEEN.join("|")))
        .expect("is a pattern")
});

/// The times that a question names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Times {
    named: Vec<Meant>,
    /// Those that it tells by what happened.
    told: Vec<Span>,
    to_come: bool,
    today: i32,
}

#[derive(Debug, Clone, PartialEq)]
enum Meant {
    One(Time),
    /// From the one to the other.
    Between(Time, Time),
}

/// A time, and on which side of it lies what is meant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time {
    days: Days,
    side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Days {
    Named(Named),
    Known((i32, i32)),
}

impl Times {
    /// Those that a question names which is asked on the day `today`.
    pub(crate) fn of(question: &str, today: i32) -> Self {
        let question = question.to_lowercase();
        let dates =
            calendar::named(&question).into_iter().map(|(place, date)| (place, Days::Named(date)));
        let times = relative::named(&question, today)
            .into_iter()
            .map(|(place, days)| (place, Days::Known(days)));
        let mut named: Vec<(Range<usize>, Time)> = dates
            .chain(times)
            .map(|(place, days)| {
                (place.clone(), Time { days, side: Side::behind(&question[..place.start]) })
            })
            .collect();
        named.sort_by_key(|(place, _)| place.start);
        let between =
            if let [first, second] = &named[..] { between(&question, first, second) } else { None };
        let named = match between {
            Some((first, second)) => vec![Meant::Between(first, second)],
            None => named.into_iter().map(|(_, time)| Meant::One(time)).collect(),
        };
        Self { named, told: Vec::new(), to_come: TO_COME.is_match(&question), today }
    }

    /// Also what lies on this side of what happened on a day.
    pub(crate) fn beside(&mut self, day: i32, side: Side) {
        self.told.push(Span::beside(day, side, self.today));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.told.is_empty()
    }

    /// How near each day is to the nearest of them, 0 to 1; 1 inside its span, 0 for an unknown day.
    pub(crate) fn nearness(&self, days: &[Option<i32>]) -> Vec<f64> {
        let mut nearness = vec![0.0_f64; days.len()];
        if self.is_empty() {
            return nearness;
        }
        let known = days.iter().flatten().collect::<BTreeSet<_>>();
        let years: BTreeSet<i32> = known.into_iter().filter_map(|day| year(*day)).collect();
        for span in self
            .named
            .iter()
            .flat_map(|meant| self.spans(meant, &years))
            .chain(self.told.iter().copied())
        {
            for (near, day) in nearness.iter_mut().zip(days) {
                *near = near.max(day.map_or(0.0, |day| span.nearness(day)));
            }
        }
        nearness
    }

    fn spans(&self, meant: &Meant, years: &BTreeSet<i32>) -> Vec<Span> {
        let one = |time: Time| {
            self.days(time, years)
                .into_iter()
                .map(move |days| Span::new(days, time.side, self.today))
        };
        match *meant {
            Meant::One(time) => one(time).collect(),
            Meant::Between(first, second) => match self.between(first, second, years) {
                Some(span) => vec![span],
                None => one(first).chain(one(second)).collect(),
            },
        }
    }

    /// The days of a time: without a year those of every year of which there are memories, or, where it is a beginning or an end, the last
    /// ones; the next ones as an end in a question for what is to come.
    fn days(&self, time: Time, years: &BTreeSet<i32>) -> Vec<(i32, i32)> {
        let date = match time.days {
            Days::Known(days) => return vec![days],
            Days::Named(date) => date,
        };
        if let Some(year) = date.year {
            return date.of_year(year).into_iter().collect();
        }
        if self.to_come && [Side::Before, Side::Until].contains(&time.side) {
            return of_years(date, self.today, 0..=1)
                .find(|(first, _)| *first >= self.today)
                .into_iter()
                .collect();
        }
        let known: Vec<(i32, i32)> = years.iter().filter_map(|year| date.of_year(*year)).collect();
        if time.side == Side::At {
            return known;
        }
        let last = known.iter().rposition(|(first, _)| *first <= self.today).unwrap_or(0);
        known.get(last).copied().into_iter().collect()
    }

    /// From one time to another, unless they are the other way round. A year that only one of them names goes for both as far as their order lets it.
    fn between(&self, first: Time, second: Time, years: &BTreeSet<i32>) -> Option<Span> {
        let end = match (first.days.known(), second.days) {
            (Some((begin, _)), Days::Named(date)) if date.year.is_none() => {
                of_years(date, begin, 0..=1).find(|(_, last)| *last >= begin)?
            }
            _ => *self.days(second, years).first()?,
        };
        let begin = match first.days {
            Days::Named(date) if date.year.is_none() => {
                of_years(date, end.1, -1..=0).filter(|(first, _)| *first <= end.1).last()?
            }
            _ => first.days.known()?,
        };
        let days = (
            if first.side == Side::After { begin.1.saturating_add(1) } else { begin.0 },
            if second.side == Side::Before { end.0.saturating_sub(1) } else { end.1 },
        );
        (days.0 <= days.1).then(|| Span::new(days, Side::At, self.today))
    }
}

impl Days {
    /// Those that do not hang on the year.
    fn known(self) -> Option<(i32, i32)> {
        match self {
            Self::Known(days) => Some(days),
            Self::Named(date) => date.of_year(date.year?),
        }
    }
}

/// The two ends of one span, if two times are that: "from March until June", "after March and before June".
fn between(
    question: &str,
    (a, first): &(Range<usize>, Time),
    (b, second): &(Range<usize>, Time),
) -> Option<(Time, Time)> {
    let (first, second) = (*first, *second);
    if FROM.is_match(&question[..a.start])
        && question.get(a.end..b.start).is_some_and(|gap| UNTIL.is_match(gap))
    {
        return Some((Time { side: Side::Since, ..first }, Time { side: Side::Until, ..second }));
    }
    let begins = |time: Time| [Side::After, Side::Since].contains(&time.side);
    let ends = |time: Time| [Side::Before, Side::Until].contains(&time.side);
    match (first, second) {
        _ if begins(first) && ends(second) => Some((first, second)),
        _ if ends(first) && begins(second) => Some((second, first)),
        _ => None,
    }
}

/// A date in the years around that of a day.
fn of_years(
    date: Named,
    day: i32,
    around: std::ops::RangeInclusive<i32>,
) -> impl Iterator<Item = (i32, i32)> {
    let year = year(day);
    around.filter_map(move |more| date.of_year(year?.checked_add(more)?))
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

    /// How near each day is, in percent.
    #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
    fn near<const DAYS: usize>(question: &str, days: [&str; DAYS]) -> [i32; DAYS] {
        let near = Times::of(question, day(TODAY)).nearness(&days.map(|text| Some(day(text))));
        let percent: Vec<i32> = near.iter().map(|near| (near * 100.0).round() as i32).collect();
        percent.try_into().expect("one each")
    }

    #[test]
    fn nearness_is_whole_inside_and_fades_faster_before_than_after() {
        assert_eq!(
            near("in May 2023", ["2023-05-01", "2023-05-31", "2023-04-28", "2023-06-10"]),
            [100, 100, 37, 37]
        );
        assert!(Times::of("in May 2023", day(TODAY)).nearness(&[None])[0] <= 0.0, "an unknown day");
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
    fn two_times_may_be_the_ends_of_one() {
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
    fn a_time_may_be_the_end_of_what_is_meant_or_its_beginning() {
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
