//! Days that a question means, and how near to them a day is. Pure.
//!
//! Not here: how they are named (`times`, `happened`).

/// Days after which the nearness of a day before the time that is meant has fallen to 1/e.
const BEFORE: f64 = 3.0;
/// The same after it: people tell things a little later.
const AFTER: f64 = 10.0;
/// Days after which half of it is left where all that lies on one side is meant.
const FAR: f64 = 90.0;

/// How nearness falls with the days.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fading {
    /// To 1/e in so many.
    Fast(f64),
    /// Slowly: how things were before or after is mostly told once.
    Slow,
    /// None of these days is meant.
    None,
}

/// On which side of a time that is meant lies what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    At,
    Before,
    /// The time itself and what was before it.
    Until,
    After,
    /// From its first day until today.
    Since,
}

/// The words that may stand between "before" and a time.
pub(crate) const BETWEEN: [&str; 8] =
    ["the", "about", "around", "early", "mid", "late", "of", "last"];
/// After these "before" means just before: "the week before 12 May", "on the Monday before the move".
const NEAR: [&str; 30] = [
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

impl Side {
    /// What a word says where it stands behind these.
    pub(crate) fn of(word: &str, before: &str) -> Self {
        let side = match word {
            "before" => Self::Before,
            "until" | "till" => Self::Until,
            "after" => Self::After,
            "since" => Self::Since,
            _ => Self::At,
        };
        let last = before.split_whitespace().next_back().unwrap_or_default();
        if NEAR.contains(&last) { Self::At } else { side }
    }

    /// What the words before a time say, in lower case.
    pub(crate) fn behind(before: &str) -> Self {
        let mut before = before.trim_end();
        loop {
            let (rest, last) = before.rsplit_once(char::is_whitespace).unwrap_or(("", before));
            if !BETWEEN.contains(&last) {
                return Self::of(last, rest);
            }
            before = rest.trim_end();
        }
    }
}

/// From a first to a last day, and how fast what lies before and after loses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub first: i32,
    pub last: i32,
    fading: [Fading; 2],
}

impl Span {
    /// What lies on this side of the days from a first to a last one, asked on the day `today`.
    pub(crate) fn new((first, last): (i32, i32), side: Side, today: i32) -> Self {
        match side {
            // What is to be done until a day that is to come lies between now and then.
            Side::Before | Side::Until if first > today => {
                Self::new((today, last), Side::At, today)
            }
            Side::At => Self { first, last, fading: [Fading::Fast(BEFORE), Fading::Fast(AFTER)] },
            Side::Before => Self {
                first: first.saturating_sub(1),
                last: first.saturating_sub(1),
                fading: [Fading::Slow, Fading::None],
            },
            Side::Until => Self { first: last, last, fading: [Fading::Slow, Fading::None] },
            Side::After => Self {
                first: last.saturating_add(1),
                last: last.saturating_add(1),
                fading: [Fading::None, Fading::Slow],
            },
            Side::Since => {
                Self { first, last: last.max(today), fading: [Fading::None, Fading::Fast(AFTER)] }
            }
        }
    }

    /// The same of what happened on a day. How it was after it is often told with it; since then, later.
    pub(crate) fn beside(day: i32, side: Side, today: i32) -> Self {
        match side {
            Side::After => Self::new((day, day.saturating_sub(1)), side, today),
            Side::Since => Self::new((day.saturating_add(1), day), side, today),
            Side::At | Side::Before | Side::Until => Self::new((day, day), side, today),
        }
    }

    /// How near a day is, 0 to 1: 1 within.
    pub(crate) fn nearness(&self, day: i32) -> f64 {
        // Days may be as far apart as years go.
        let faded = |days: i64, fading: Fading| match fading {
            Fading::Fast(fading) => (-(days as f64) / fading).exp(),
            Fading::Slow => 1.0 / (1.0 + days as f64 / FAR),
            Fading::None => 0.0,
        };
        let (day, first, last) = (i64::from(day), i64::from(self.first), i64::from(self.last));
        if day < first {
            faded(first - day, self.fading[0])
        } else if day > last {
            faded(day - last, self.fading[1])
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearness<const DAYS: usize>(span: &Span, days: [i32; DAYS]) -> String {
        format!("{:.2?}", days.map(|day| span.nearness(day)))
    }

    #[test]
    fn what_is_meant_lies_on_the_side_that_the_question_says() {
        let near = |side| Span::new((100, 110), side, 200);
        for (side, expected) in [
            (Side::At, "[0.72, 1.00, 1.00, 0.90, 0.00]"),
            (Side::Before, "[1.00, 0.00, 0.00, 0.00, 0.00]"),
            (Side::Until, "[0.89, 0.90, 1.00, 0.00, 0.00]"),
            (Side::After, "[0.00, 0.00, 0.00, 1.00, 0.50]"),
            (Side::Since, "[0.00, 1.00, 1.00, 1.00, 0.90]"),
        ] {
            assert_eq!(nearness(&near(side), [99, 100, 110, 111, 201]), expected, "{side:?}");
        }
        for (side, expected) in [
            (Side::Before, "[1.00, 0.00, 0.00]"),
            (Side::Until, "[0.99, 1.00, 0.00]"),
            (Side::After, "[0.00, 1.00, 0.99]"),
            (Side::Since, "[0.00, 0.00, 1.00]"),
        ] {
            assert_eq!(
                nearness(&Span::beside(100, side, 200), [99, 100, 101]),
                expected,
                "{side:?}"
            );
        }
    }

    #[test]
    fn before_a_day_to_come_is_from_today_until_then() {
        let span = Span::new((100, 110), Side::Before, 95);
        assert_eq!(nearness(&span, [90, 95, 100, 110, 112]), "[0.19, 1.00, 1.00, 1.00, 0.82]");
        assert_eq!(
            nearness(&Span::new((95, 95), Side::Before, 95), [93, 94, 95]),
            "[0.99, 1.00, 0.00]",
            "before today"
        );
        assert_eq!(
            nearness(&Span::new((95, 95), Side::Until, 95), [94, 95, 96]),
            "[0.99, 1.00, 0.00]",
            "until today"
        );
    }

    #[test]
    fn the_words_before_a_time_tell_the_side() {
        for (question, side) in [
            ("what broke before 12 may", Side::Before),
            ("until the 12 may", Side::Until),
            ("since early 12 may", Side::Since),
            ("after around 12 may", Side::After),
            ("on 12 may", Side::At),
            ("before he came on 12 may", Side::At),
            ("12 may", Side::At),
            ("the 12 may", Side::At),
            ("in the week before 12 may", Side::At),
            ("on the monday after the 12 may", Side::At),
        ] {
            let at = question.find("12").expect("is there");
            assert_eq!(Side::behind(&question[..at]), side, "{question}");
        }
    }

    #[test]
    fn days_at_the_ends_of_time_are_far() {
        let span = Span::new((i32::MIN, i32::MIN), Side::Before, 0);
        assert_eq!(nearness(&span, [i32::MAX]), "[0.00]");
        assert_eq!(
            nearness(&Span::new((i32::MAX, i32::MAX), Side::After, 0), [i32::MIN]),
            "[0.00]"
        );
    }
}
