//! A span of days that a query refers to, and how near a day is to it. Pure.
//!
//! Not here: parsing (`calendar`, `relative`, `event_reference`).

/// Days before the span at which the proximity has fallen to 1/e.
const DECAY_BEFORE: f64 = 3.0;
/// Days after the span at which the proximity has fallen to 1/e: people report things a little
/// later.
const DECAY_AFTER: f64 = 10.0;
/// Days from the span at which half of the proximity is left, if the query means everything before
/// or after a time.
const ONE_SIDED_HALF_LIFE: f64 = 90.0;

/// First and last day of a time, as [`chrono::Datelike::num_days_from_ce`] counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DayRange {
    pub first: i32,
    pub last: i32,
}

/// How the proximity falls off with the distance in days.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Falloff {
    /// Exponentially, to 1/e in this many days.
    Exponential(f64),
    /// Hyperbolically, because a lasting state is mostly reported only once, at any time.
    Hyperbolic,
    /// To 0 immediately: the query excludes these days.
    Immediate,
}

/// How the requested time relates to the time that the query names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The named time itself.
    At,
    /// Everything before it.
    Before,
    /// Everything before it, and the time itself.
    Until,
    /// Everything after it.
    After,
    /// From its first day until today.
    Since,
}

/// Words that may come between a preposition and a time.
pub(crate) const FILLERS: [&str; 8] =
    ["the", "about", "around", "early", "mid", "late", "of", "last"];
/// Words that turn a preposition into "just before" or "just after": "the week before 12 May", "on
/// the Monday before the move".
const CLOSE_BY: [&str; 30] = [
    "moment",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "night",
    "morning",
    "evening",
    "week",
    "weeks",
    "weekend",
    "month",
    "months",
    "year",
    "years",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "recently",
    "shortly",
    "right",
    "just",
    "immediately",
    "directly",
];

impl Relation {
    /// The relation that a preposition expresses after the text `before`; [`Relation::At`] for a
    /// word that is not one of these prepositions.
    pub(crate) fn from_preposition(word: &str, before: &str) -> Self {
        let relation = match word {
            "before" => Self::Before,
            "until" | "till" => Self::Until,
            "after" => Self::After,
            "since" => Self::Since,
            _ => Self::At,
        };
        let last = before.split_whitespace().next_back().unwrap_or_default();
        if CLOSE_BY.contains(&last) { Self::At } else { relation }
    }

    /// The relation that the text before a time expresses. The text must be in lower case.
    pub(crate) fn before_time(before: &str) -> Self {
        let mut before = before.trim_end();
        loop {
            let (rest, last) = before.rsplit_once(char::is_whitespace).unwrap_or(("", before));
            if !FILLERS.contains(&last) {
                return Self::from_preposition(last, rest);
            }
            before = rest.trim_end();
        }
    }
}

/// The days that a query means, and how the proximity falls off before and after them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DateSpan {
    days: DayRange,
    before: Falloff,
    after: Falloff,
}

impl DateSpan {
    /// The span that has this relation to the days of a time, for a query made on the day `today`.
    pub fn new(days: DayRange, relation: Relation, today: i32) -> Self {
        let DayRange { first, last } = days;
        let one_day = |day: i32| DayRange { first: day, last: day };
        let (days, before, after) = match relation {
            // "Before" a future day means between now and then.
            Relation::Before | Relation::Until if first > today => {
                return Self::new(DayRange { first: today, last }, Relation::At, today);
            }
            Relation::At => {
                (days, Falloff::Exponential(DECAY_BEFORE), Falloff::Exponential(DECAY_AFTER))
            }
            Relation::Before => {
                (one_day(first.saturating_sub(1)), Falloff::Hyperbolic, Falloff::Immediate)
            }
            Relation::Until => (one_day(last), Falloff::Hyperbolic, Falloff::Immediate),
            Relation::After => {
                (one_day(last.saturating_add(1)), Falloff::Immediate, Falloff::Hyperbolic)
            }
            Relation::Since => (
                DayRange { first, last: last.max(today) },
                Falloff::Immediate,
                Falloff::Exponential(DECAY_AFTER),
            ),
        };
        Self { days, before, after }
    }

    /// The span that has this relation to an event. "After" includes the day of the event, because
    /// the new state is often reported with it; "since" starts the day after.
    pub(crate) fn around_event(day: i32, relation: Relation, today: i32) -> Self {
        let days = match relation {
            Relation::After => DayRange { first: day, last: day.saturating_sub(1) },
            Relation::Since => DayRange { first: day.saturating_add(1), last: day },
            Relation::At | Relation::Before | Relation::Until => DayRange { first: day, last: day },
        };
        Self::new(days, relation, today)
    }

    /// How near a day is, 0 to 1; 1 inside the span.
    pub fn proximity(&self, day: i32) -> f64 {
        let proximity_at = |days: i64, falloff: Falloff| match falloff {
            Falloff::Exponential(decay) => (-(days as f64) / decay).exp(),
            Falloff::Hyperbolic => 1.0 / (1.0 + days as f64 / ONE_SIDED_HALF_LIFE),
            Falloff::Immediate => 0.0,
        };
        // Two i32 days may be further apart than an i32 holds.
        let (first, last) = (i64::from(self.days.first), i64::from(self.days.last));
        let day = i64::from(day);
        if day < first {
            proximity_at(first - day, self.before)
        } else if day > last {
            proximity_at(day - last, self.after)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proximity<const DAYS: usize>(span: &DateSpan, days: [i32; DAYS]) -> String {
        format!("{:.2?}", days.map(|day| span.proximity(day)))
    }

    #[test]
    fn the_preposition_chooses_the_side_of_the_span() {
        let span = |relation| DateSpan::new(DayRange { first: 100, last: 110 }, relation, 200);
        for (relation, expected) in [
            (Relation::At, "[0.72, 1.00, 1.00, 0.90, 0.00]"),
            (Relation::Before, "[1.00, 0.00, 0.00, 0.00, 0.00]"),
            (Relation::Until, "[0.89, 0.90, 1.00, 0.00, 0.00]"),
            (Relation::After, "[0.00, 0.00, 0.00, 1.00, 0.50]"),
            (Relation::Since, "[0.00, 1.00, 1.00, 1.00, 0.90]"),
        ] {
            assert_eq!(
                proximity(&span(relation), [99, 100, 110, 111, 201]),
                expected,
                "{relation:?}"
            );
        }
        for (relation, expected) in [
            (Relation::Before, "[1.00, 0.00, 0.00]"),
            (Relation::Until, "[0.99, 1.00, 0.00]"),
            (Relation::After, "[0.00, 1.00, 0.99]"),
            (Relation::Since, "[0.00, 0.00, 1.00]"),
        ] {
            assert_eq!(
                proximity(&DateSpan::around_event(100, relation, 200), [99, 100, 101]),
                expected,
                "{relation:?}"
            );
        }
    }

    #[test]
    fn before_a_future_day_means_from_today_until_then() {
        let span = DateSpan::new(DayRange { first: 100, last: 110 }, Relation::Before, 95);
        assert_eq!(proximity(&span, [90, 95, 100, 110, 112]), "[0.19, 1.00, 1.00, 1.00, 0.82]");
        assert_eq!(
            proximity(
                &DateSpan::new(DayRange { first: 95, last: 95 }, Relation::Before, 95),
                [93, 94, 95]
            ),
            "[0.99, 1.00, 0.00]",
            "before today"
        );
        assert_eq!(
            proximity(
                &DateSpan::new(DayRange { first: 95, last: 95 }, Relation::Until, 95),
                [94, 95, 96]
            ),
            "[0.99, 1.00, 0.00]",
            "until today"
        );
    }

    #[test]
    fn the_text_before_a_time_gives_the_relation() {
        for (question, relation) in [
            ("what broke before 12 may", Relation::Before),
            ("until the 12 may", Relation::Until),
            ("since early 12 may", Relation::Since),
            ("after around 12 may", Relation::After),
            ("on 12 may", Relation::At),
            ("before he came on 12 may", Relation::At),
            ("12 may", Relation::At),
            ("the 12 may", Relation::At),
            ("in the week before 12 may", Relation::At),
            ("on the monday after the 12 may", Relation::At),
        ] {
            let at = question.find("12").expect("the question names a day");
            assert_eq!(Relation::before_time(&question[..at]), relation, "{question}");
        }
    }

    #[test]
    fn the_proximity_of_extreme_days_does_not_overflow() {
        let span = DateSpan::new(DayRange { first: i32::MIN, last: i32::MIN }, Relation::Before, 0);
        assert_eq!(proximity(&span, [i32::MAX]), "[0.00]");
        assert_eq!(
            proximity(
                &DateSpan::new(DayRange { first: i32::MAX, last: i32::MAX }, Relation::After, 0),
                [i32::MIN]
            ),
            "[0.00]"
        );
    }
}
