//! The times that one query refers to, resolved to days. Pure.
//!
//! Source: `when` of the reference. Not here: parsing (`calendar`, `relative`), events
//! (`event_reference`), the day of a memory (`index`).

use crate::text::dates::calendar;
use crate::text::dates::calendar::{CalendarDate, Time};
use crate::text::dates::cldr;
use crate::text::dates::relative;
use crate::text::dates::span::{DateSpan, DayRange, FILLERS, Relation};
use crate::text::tokenize;
use crate::text::tokenize::Grams;
use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

/// Marks a query about the future, in which "before December" means before the next one.
static ABOUT_FUTURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(must|should|shall|will|ought|have to|has to|needs? to|what to|due)\b")
        .expect("the pattern compiles")
});
/// Matches the text before the first time of "from March until June".
static FROM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\b(?:from|between)(?: (?:{}))* $", FILLERS.join("|")))
        .expect("the pattern compiles")
});
/// Matches the text between the two times of "from March until June".
static UNTIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"^,? (?:until|till|to|and|through)(?: (?:{}))* $", FILLERS.join("|")))
        .expect("the pattern compiles")
});

/// The times that a query refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct DateReferences {
    named: Vec<Reference>,
    /// The times around events.
    events: Vec<DateSpan>,
    /// The words that name times, in lower case.
    words: Vec<String>,
    about_future: bool,
    /// The day of the query.
    today: i32,
}

#[derive(Debug, Clone, PartialEq)]
enum Reference {
    One(RelatedTime),
    /// From one time to another.
    Between {
        begin: RelatedTime,
        end: RelatedTime,
    },
}

/// A time, and the relation of the requested time to it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RelatedTime {
    time: Time,
    relation: Relation,
}

/// A time and its byte range in the query.
struct FoundTime {
    range: Range<usize>,
    time: RelatedTime,
}

impl DateReferences {
    /// Parses the times of a query made on the day `today`.
    pub fn parse(query: &str, today: i32) -> Self {
        let query = query.to_lowercase();
        let dates =
            calendar::parse(&query).into_iter().map(|(range, date)| (range, Time::Calendar(date)));
        let relative = relative::parse(&query, today)
            .into_iter()
            .map(|(range, days)| (range, Time::Days(days)));
        let mut found: Vec<FoundTime> = joined(dates.chain(relative), cldr::parse(&query, today))
            .into_iter()
            .map(|(range, time)| {
                let relation = Relation::before_time(&query[..range.start]);
                FoundTime { range, time: RelatedTime { time, relation } }
            })
            .collect();
        found.sort_by_key(|time| time.range.start);
        let words = found.iter().flat_map(|time| words_of(&query[time.range.clone()])).collect();
        let between =
            if let [first, second] = &found[..] { between(&query, first, second) } else { None };
        let named = match between {
            Some(reference) => vec![reference],
            None => found.into_iter().map(|found| Reference::One(found.time)).collect(),
        };
        let about_future = ABOUT_FUTURE.is_match(&query);
        Self { named, events: Vec::new(), words, about_future, today }
    }

    /// Whether a word in lower case is part of a time that the query names.
    pub fn covers(&self, word: &str) -> bool {
        self.words.iter().any(|of_time| of_time == word)
    }

    /// Adds the time that has this relation to an event on `day`.
    pub fn add_event(&mut self, day: i32, relation: Relation) {
        self.events.push(DateSpan::around_event(day, relation, self.today));
    }

    /// Whether the query refers to no time.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.events.is_empty()
    }

    /// How near each day is to the nearest time, 0 to 1; 1 inside its span, 0 for an unknown day. A
    /// date without a year is resolved to the years of these days.
    pub fn proximity(&self, days: &[Option<i32>]) -> Vec<f64> {
        let mut proximity = vec![0.0_f64; days.len()];
        if self.is_empty() {
            return proximity;
        }
        let distinct_days = days.iter().flatten().collect::<BTreeSet<_>>();
        let years: BTreeSet<i32> = distinct_days.into_iter().filter_map(|day| year(*day)).collect();
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
            Reference::Between { begin, end } => match self.span_between(begin, end, years) {
                Some(span) => vec![span],
                None => one(begin).chain(one(end)).collect(),
            },
        }
    }

    /// The days of a time. A date without a year is resolved to every year that has memories. As
    /// the beginning or the end of a span it is resolved to the last such year up to today, and as
    /// the end of a span in a query about the future to the next occurrence.
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
        let candidates: Vec<DayRange> =
            years.iter().filter_map(|year| date.in_year(*year)).collect();
        if related.relation == Relation::At {
            return candidates;
        }
        let last = candidates.iter().rposition(|days| days.first <= self.today).unwrap_or(0);
        candidates.get(last).copied().into_iter().collect()
    }

    /// The span from one time to another; `None` if the end is before the beginning. A year that
    /// only one of them names applies to both, as far as their order permits.
    fn span_between(
        &self,
        from: RelatedTime,
        to: RelatedTime,
        years: &BTreeSet<i32>,
    ) -> Option<DateSpan> {
        let end = match (from.time.fixed_days(), to.time) {
            (Some(begin), Time::Calendar(date)) if date.year.is_none() => {
                in_years_around(date, begin.first, 0..=1).find(|days| days.last >= begin.first)?
            }
            _ => *self.days(to, years).first()?,
        };
        let begin = match from.time {
            Time::Calendar(date) if date.year.is_none() => in_years_around(date, end.last, -1..=0)
                .filter(|days| days.first <= end.last)
                .last()?,
            _ => from.time.fixed_days()?,
        };
        let days = DayRange {
            first: if from.relation == Relation::After {
                begin.last.saturating_add(1)
            } else {
                begin.first
            },
            last: if to.relation == Relation::Before {
                end.first.saturating_sub(1)
            } else {
                end.last
            },
        };
        (days.first <= days.last).then(|| DateSpan::new(days, Relation::At, self.today))
    }
}

/// The words of a text in lower case; of scripts without spaces, the pairs and single characters.
fn words_of(text: &str) -> Vec<String> {
    tokenize::words(text, Grams::All).into_iter().map(|at| tokenize::lower(&text[at])).collect()
}

/// The times of English and those of other languages. Of two at one place the English one counts,
/// unless the other is longer around it: "12. September".
fn joined(
    english: impl Iterator<Item = (Range<usize>, Time)>,
    mut others: Vec<(Range<usize>, Time)>,
) -> Vec<(Range<usize>, Time)> {
    let mut english: Vec<_> = english.collect();
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    let is_around = |a: &Range<usize>, b: &Range<usize>| {
        a.start <= b.start && b.end <= a.end && a.len() > b.len()
    };
    others.retain(|(other, _)| {
        let mut same_place = english.iter().filter(|(at, _)| overlap(at, other));
        same_place.all(|(at, _)| is_around(other, at))
    });
    english.retain(|(at, _)| !others.iter().any(|(other, _)| overlap(at, other)));
    english.append(&mut others);
    english
}

/// The reference to one span, if two times are its beginning and its end: "from March until June",
/// "after March and before June".
fn between(query: &str, a: &FoundTime, b: &FoundTime) -> Option<Reference> {
    let (first, second) = (a.time, b.time);
    if FROM.is_match(&query[..a.range.start])
        && query.get(a.range.end..b.range.start).is_some_and(|gap| UNTIL.is_match(gap))
    {
        return Some(Reference::Between {
            begin: RelatedTime { relation: Relation::Since, ..first },
            end: RelatedTime { relation: Relation::Until, ..second },
        });
    }
    let is_begin = |time: RelatedTime| [Relation::After, Relation::Since].contains(&time.relation);
    let is_end = |time: RelatedTime| [Relation::Before, Relation::Until].contains(&time.relation);
    match (first, second) {
        _ if is_begin(first) && is_end(second) => {
            Some(Reference::Between { begin: first, end: second })
        }
        _ if is_end(first) && is_begin(second) => {
            Some(Reference::Between { begin: second, end: first })
        }
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
        crate::text::features::day(text).expect("the text is a date")
    }

    /// The proximity of each day, in percent.
    #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
    fn percent<const DAYS: usize>(question: &str, days: [&str; DAYS]) -> [i32; DAYS] {
        let proximity = DateReferences::parse(question, day(TODAY))
            .proximity(&days.map(|text| Some(day(text))));
        let percent: Vec<i32> =
            proximity.iter().map(|value| (value * 100.0).round() as i32).collect();
        percent.try_into().expect("each day has a proximity")
    }

    #[test]
    fn proximity_is_1_inside_and_falls_faster_before_than_after() {
        assert_eq!(
            percent("in May 2023", ["2023-05-01", "2023-05-31", "2023-04-28", "2023-06-10"]),
            [100, 100, 37, 37]
        );
        assert!(
            DateReferences::parse("in May 2023", day(TODAY)).proximity(&[None])[0] <= 0.0,
            "an unknown day"
        );
    }

    #[test]
    fn a_month_without_a_year_means_every_year_and_as_the_end_of_a_span_the_last_one() {
        assert_eq!(percent("in december", ["2022-12-31", "2021-12-01"]), [100, 100]);
        assert_eq!(percent("on 31 February 2023", ["2023-03-01"]), [0]);
        assert_eq!(
            percent("since March", ["2024-04-01", "2025-03-01", "2026-02-01", "2026-03-31"])[..3],
            [0; 3]
        );
        assert_eq!(
            percent("since June", ["2024-07-01", "2025-05-31", "2025-06-01", "2026-01-31"]),
            [0, 0, 100, 100]
        );
        let before =
            percent("before June", ["2024-06-01", "2025-05-27", "2025-06-01", "2026-01-31"]);
        assert!(
            (15..25).contains(&before[0]) && before[1] > 90 && before[2..] == [0; 2],
            "{before:?}"
        );
    }

    #[test]
    fn a_deadline_without_a_year_means_its_next_occurrence() {
        for question in [
            "What must be finished before June?",
            "what will be ready until june",
            "what is due before june",
        ] {
            let near = percent(question, ["2025-05-30", "2026-05-13", "2026-06-15"]);
            assert!(near[0] < 1 && near[1..] == [100, 100], "{question}: {near:?}");
        }
        assert!(percent("What was finished before June?", ["2025-05-30"])[0] > 90);
        assert!(
            percent("What must be finished before March?", ["2026-05-14", "2027-03-31"])
                .iter()
                .all(|near| *near > 90),
            "March of the next year"
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
            let near = percent(question, ["2025-08-01", "2025-09-01", "2025-10-31", "2026-01-15"]);
            assert!(
                near[0] < 10 && near[1..3] == [100, 100] && near[3] < 10,
                "{question}: {near:?}"
            );
        }
        assert_eq!(
            percent("from november until february", ["2025-10-01", "2025-11-01", "2026-02-28"])
                [1..],
            [100, 100],
            "over the new year"
        );
        assert_eq!(
            percent(
                "from 2023 until 2024",
                ["2022-06-01", "2023-06-01", "2024-06-01", "2026-01-01"]
            ),
            [0, 100, 100, 0]
        );
        assert_eq!(
            percent("between last Monday and yesterday", ["2026-05-11", "2026-05-12"]),
            [100, 100]
        );
        assert_eq!(
            percent(
                "before May 2024 and after June 2025",
                ["2024-04-30", "2025-07-01", "2025-01-01"]
            ),
            [100, 100, 0],
            "each of the two times counts"
        );
        assert_eq!(
            percent("in September and in October", ["2025-09-30", "2025-10-01"]),
            [100, 100]
        );
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
            assert_eq!(percent(question, [within, without]), [100, 0], "{question}");
        }
    }

    #[test]
    fn a_time_may_be_in_another_language_and_one_in_english_wins() {
        for (question, within, without) in [
            ("Was haben wir letzte Woche beschlossen?", "2026-05-04", "2026-04-20"),
            ("la réunion du 12 mai 2025", "2025-05-12", "2026-05-12"),
            ("die Sitzung am 12. September", "2025-09-12", "2025-09-01"),
            ("我们上个月决定了什么", "2026-04-30", "2026-03-01"),
            ("what was decided last week", "2026-05-04", "2026-04-20"),
            ("on 12 September", "2025-09-12", "2025-09-01"),
        ] {
            let near = percent(question, [within, without]);
            assert!(near[0] == 100 && near[1] < 10, "{question}: {near:?}");
        }
        let english = |at| (at, Time::Days(DayRange { first: 1, last: 1 }));
        let other = |at| (at, Time::Days(DayRange { first: 2, last: 2 }));
        for (at, joined_times) in [
            (2..4, vec![english(2..4)]),
            (3..6, vec![english(2..4)]),
            (2..6, vec![other(2..6)]),
            (5..6, vec![english(2..4), other(5..6)]),
        ] {
            assert_eq!(joined([english(2..4)].into_iter(), vec![other(at)]), joined_times);
        }
    }
}
