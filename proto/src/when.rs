//! The times that a person or an agent writes: `yesterday`, `3d`, `2026-11-01`, `2026-11-01 14:30`, `2026-11-01T14:30:00Z`.
//!
//! PURE: the clock and the time zone are arguments. Every flag and every argument that takes a time of the past is read here. Not here: dates
//! in the text of a query or a memory, and dates in metadata, which are absolute.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime};

/// Returns the offset from UTC, in milliseconds, at a time in milliseconds since 1970 (UTC).
pub type Zone = fn(i64) -> i64;

/// What [`When::parse`] reads, for error messages.
pub const FORMS: &str = "a date (2026-12-31), a date with a time (2026-12-31 18:00, 2026-12-31T18:00:00Z), a time ago (90m, 3d, 2w), today or yesterday";

const DAY: i64 = 86_400_000;

/// A time that was written, not yet compared with the clock. Times are milliseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// So many milliseconds before now.
    Ago(i64),
    /// A day, so many days before today.
    DaysAgo(i64),
    /// A day.
    Day(NaiveDate),
    /// A time with its offset.
    At(DateTime<FixedOffset>),
    /// A time of day in the person's time zone.
    Local(NaiveDateTime),
}

/// The clock and the time zone of the person.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Milliseconds since 1970 (UTC).
    pub now: i64,
    /// The time zone.
    pub zone: Zone,
}

impl When {
    /// Returns the time that a text states.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "now" => return Some(Self::Ago(0)),
            "today" => return Some(Self::DaysAgo(0)),
            "yesterday" => return Some(Self::DaysAgo(1)),
            _ => {}
        }
        (span(text).map(Self::Ago))
            .or_else(|| date(text).map(Self::Day))
            .or_else(|| time(text).map(Self::At))
            .or_else(|| local_time(text).map(Self::Local))
    }

    /// Returns its beginning: of a day the midnight before.
    #[must_use]
    pub fn start(self, clock: Clock) -> i64 {
        match self {
            Self::Ago(milliseconds) => clock.now.saturating_sub(milliseconds),
            Self::At(at) => at.timestamp_millis(),
            Self::Local(at) => from_local(at.and_utc().timestamp_millis(), clock.zone),
            Self::DaysAgo(_) | Self::Day(_) => midnight(self.day(clock), clock.zone),
        }
    }

    /// Returns its end: of a day the midnight after, which is no longer part of it.
    #[must_use]
    pub fn end(self, clock: Clock) -> i64 {
        match self {
            // A day on which the clock is changed does not have 24 hours.
            Self::DaysAgo(_) | Self::Day(_) => {
                self.day(clock).succ_opt().map_or(i64::MAX, |day| midnight(day, clock.zone))
            }
            _ => self.start(clock),
        }
    }

    /// Returns its day: of a time with an offset the day there, else the person's.
    #[must_use]
    pub fn day(self, clock: Clock) -> NaiveDate {
        let local = |at: i64| {
            let local = at.saturating_add((clock.zone)(at));
            DateTime::from_timestamp_millis(local).unwrap_or_default().date_naive()
        };
        match self {
            Self::Ago(_) => local(self.start(clock)),
            Self::DaysAgo(days) => {
                let today = local(clock.now);
                today.checked_sub_signed(chrono::TimeDelta::days(days)).unwrap_or(today)
            }
            Self::Day(day) => day,
            Self::At(at) => at.date_naive(),
            Self::Local(at) => at.date(),
        }
    }

    /// Whether it is a day, not a point in time.
    #[must_use]
    pub fn is_day(self) -> bool {
        matches!(self, Self::DaysAgo(_) | Self::Day(_))
    }
}

/// Returns the milliseconds of a span such as `3d`: a whole number and s, m, h, d, w or y.
#[must_use]
pub fn span(text: &str) -> Option<i64> {
    let unit = match text.chars().next_back()? {
        's' => 1000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => DAY,
        'w' => 7 * DAY,
        'y' => 365 * DAY,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let number: u32 =
        digits.parse().ok().filter(|number| *number > 0 && !digits.starts_with('+'))?;
    Some(i64::from(number) * unit)
}

/// Returns the date that a text states: a year of four digits (0001 to 9999), month and day.
#[must_use]
pub fn date(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| has_supported_year(text))
}

/// Returns the time that a text in the format of RFC 3339 states, in the same years.
#[must_use]
pub fn time(text: &str) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(text).ok().filter(|_| has_supported_year(text))
}

/// Returns the time of day without an offset that a text states: `2026-12-31 18:00`, also with a `T` and with seconds.
fn local_time(text: &str) -> Option<NaiveDateTime> {
    ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .filter(|_| has_supported_year(text))
}

/// Returns true if a text begins with a year of four digits other than 0000, and a hyphen. The
/// parser accepts signs, and years of one to six digits.
fn has_supported_year(text: &str) -> bool {
    text.split_once('-').is_some_and(|(year, _)| {
        year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) && year != "0000"
    })
}

/// Returns the midnight at which a day begins.
#[must_use]
pub fn midnight(day: NaiveDate, zone: Zone) -> i64 {
    from_local(day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis(), zone)
}

/// Returns the time of a local one, given as if it were UTC. Of an hour that occurs twice, the first.
#[must_use]
pub fn from_local(local: i64, zone: Zone) -> i64 {
    let guess = local - zone(local);
    local - zone(guess)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-04 20:00 UTC, which is 2026-03-05 10:00 in the time zone of the tests.
    const CLOCK: Clock = Clock { now: 1_772_654_400_000, zone: |_| 14 * 3_600_000 };

    fn shown(text: &str) -> [String; 3] {
        let when = When::parse(text).unwrap_or_else(|| panic!("{text} is a time"));
        let iso = |at| DateTime::from_timestamp_millis(at).unwrap_or_default().to_rfc3339();
        [iso(when.start(CLOCK)), iso(when.end(CLOCK)), when.day(CLOCK).to_string()]
    }

    #[test]
    fn a_day_is_that_of_the_time_zone_from_midnight_to_midnight() {
        let yesterday = ["2026-03-03T10:00:00+00:00", "2026-03-04T10:00:00+00:00", "2026-03-04"];
        for text in ["yesterday", "Yesterday", " 2026-03-04"] {
            assert_eq!(shown(text), yesterday, "{text}");
        }
        assert_eq!(shown("today")[2], "2026-03-05");
    }

    #[test]
    fn a_time_has_its_offset_or_is_local_and_a_span_is_before_now() {
        for (text, at, day) in [
            ("2026-03-04 10:00", "2026-03-03T20:00:00+00:00", "2026-03-04"),
            ("2026-03-04T10:00:00", "2026-03-03T20:00:00+00:00", "2026-03-04"),
            ("2026-03-04T10:00:00Z", "2026-03-04T10:00:00+00:00", "2026-03-04"),
            ("2026-03-04T23:00:00-05:00", "2026-03-05T04:00:00+00:00", "2026-03-04"),
            ("2h", "2026-03-04T18:00:00+00:00", "2026-03-05"),
            ("1w", "2026-02-25T20:00:00+00:00", "2026-02-26"),
        ] {
            assert_eq!(shown(text), [at, at, day], "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "90",
            "d",
            "-1d",
            "+1d",
            "0d",
            "1.5h",
            "2 h",
            "5é",
            "3é",
            "99999999999d",
            "soon",
            "2026-02-30",
            "21.02.2026",
            "26-01-01",
            "0000-01-01",
            "+2026-01-01",
            "12345-01-01",
            "2026-03-04 25:00",
        ] {
            assert_eq!(When::parse(text), None, "{text}");
        }
    }
}
