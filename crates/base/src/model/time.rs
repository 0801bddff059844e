//! Points in time, passed to the engine as arguments. The engine never reads a clock.
//!
//! Days, weeks and midnights are those of the person's time zone, which the daemon sets once ([`set_zone`]); until then of UTC. Times in
//! replies are in UTC.

use crate::Result;
use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use loci_proto::error::Failure;
use loci_proto::when::{self, Clock, When};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// A reading of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// The time to use.
    pub now: Timestamp,
    /// Whether the time may be remembered, and memories be aged by it. False after a jump ahead.
    pub is_trusted: bool,
}

/// Milliseconds of one hour.
pub const HOUR: i64 = 3_600_000;
/// Milliseconds of one day.
pub const DAY: i64 = 24 * HOUR;
/// 1970-01-01, in days since 0001-01-01 (day 1).
const DAY_OF_1970: i64 = 719_163;

static ZONE: OnceLock<when::Zone> = OnceLock::new();

/// Sets the time zone of days. Only the first call counts: the index keeps the days of memories.
pub fn set_zone(zone: when::Zone) {
    let _ = ZONE.set(zone);
}

fn offset_at(milliseconds: i64) -> i64 {
    ZONE.get().map_or(0, |zone| zone(milliseconds))
}

/// Returns what tells time zones apart, for data that is derived from days: the offsets of fifty years, each quarter.
pub fn zone_fingerprint() -> Vec<u8> {
    let quarters = (0..200).map(|quarter| offset_at(quarter * 91 * DAY) / 60_000);
    quarters.flat_map(i64::to_le_bytes).collect()
}

/// Converts a number of days, which may have a fraction, to milliseconds.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "fractions of a millisecond do not count, and the cast saturates"
)]
pub fn days(number: f64) -> i64 {
    (number * DAY as f64) as i64
}

impl Timestamp {
    /// Returns the time as ISO 8601 in UTC with milliseconds, for example
    /// `2026-02-10T08:30:00.000Z`.
    pub fn iso(self) -> String {
        DateTime::<Utc>::from_timestamp_millis(self.0)
            .unwrap_or_default()
            .to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Returns the local time as if it were UTC.
    fn local(self) -> DateTime<Utc> {
        let local = self.0.saturating_add(offset_at(self.0));
        DateTime::<Utc>::from_timestamp_millis(local).unwrap_or_default()
    }

    /// Returns the date, for example `2026-02-10`.
    pub fn date(self) -> String {
        self.local().format("%Y-%m-%d").to_string()
    }

    /// Returns the ISO week, for example `2026-W07`.
    pub fn week(self) -> String {
        let week = self.local().iso_week();
        format!("{:04}-W{:02}", week.year(), week.week())
    }

    /// Returns the day, in days since 0001-01-01 (day 1).
    pub fn day(self) -> i32 {
        let local = self.0.saturating_add(offset_at(self.0));
        i32::try_from(local.div_euclid(DAY) + DAY_OF_1970).unwrap_or(i32::MAX)
    }

    /// Returns midnight of a [day](Self::day).
    pub fn start_of_day(day: i32) -> Self {
        Self(when::from_local((i64::from(day) - DAY_OF_1970) * DAY, offset_at))
    }

    /// Milliseconds from `earlier` to this time; 0 if the clock was set back since.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// Returns this time plus `milliseconds`.
    #[must_use]
    pub fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

/// Returns true for a date (`2026-02-21`) or a date with a time (RFC 3339), as `event_date` accepts
/// it.
pub fn is_date(text: &str) -> bool {
    absolute(text).is_some()
}

/// Returns the date or the date with a time (RFC 3339) that a text states, whenever it is read.
fn absolute(text: &str) -> Option<When> {
    when::date(text).map(When::Day).or_else(|| when::time(text).map(When::At))
}

fn clock(now: Timestamp) -> Clock {
    Clock { now: now.0, zone: offset_at }
}

/// The clock for an [`absolute`] time, which does not depend on it.
const NO_CLOCK: Timestamp = Timestamp(0);

/// Returns the time of a date (its midnight) or of a date with a time; `None` for anything else.
pub fn moment_of(text: &str) -> Option<Timestamp> {
    absolute(text).map(|at| Timestamp(at.start(clock(NO_CLOCK))))
}

/// Returns the end of a date: the next midnight for a date, the time itself for a date with a time
/// (RFC 3339).
///
/// # Errors
/// `invalid`, naming the field.
pub fn end_of(text: &str, field: &str) -> Result<Timestamp> {
    let at = absolute(text).ok_or_else(|| {
        let message = "must be a date (2026-12-31) or a date with a time (2026-12-31T18:00:00Z), in the years 0001 to 9999";
        Failure::invalid(field, message)
    })?;
    Ok(Timestamp(at.end(clock(NO_CLOCK))))
}

/// Returns the time that a text states, in any of the forms of [`When`].
fn written(text: &str, field: &str) -> Result<When> {
    When::parse(text).ok_or_else(|| {
        Failure::invalid(field, format!("must be {}, in the years 0001 to 9999", when::FORMS))
    })
}

/// Returns the day that a text states, in days since 0001-01-01 (day 1); of a date with a time
/// (RFC 3339) the day in the time zone given there.
///
/// # Errors
/// `invalid`, naming the field.
pub fn day_of(text: &str, field: &str, now: Timestamp) -> Result<i32> {
    Ok(written(text, field)?.day(clock(now)).num_days_from_ce())
}

/// Returns the moment that a text states, which may be to come; of a day its last.
///
/// # Errors
/// `invalid`, naming the field.
pub fn any_moment(text: &str, field: &str, now: Timestamp) -> Result<Timestamp> {
    let at = written(text, field)?;
    Ok(Timestamp(at.end(clock(now))).plus(-i64::from(at.is_day())))
}

/// Returns the past moment that a text states: the end of a day (or now if that is to come), or a point in time.
///
/// # Errors
/// `invalid`, naming the field, also for the future.
pub fn past_moment(text: &str, field: &str, now: Timestamp) -> Result<Timestamp> {
    let start = past_start(text, field, now)?;
    if written(text, field)?.is_day() {
        Ok(any_moment(text, field, now)?.min(now))
    } else {
        Ok(start)
    }
}

/// Like [`past_moment`], but of a day it is the beginning.
///
/// # Errors
/// As [`past_moment`].
pub fn past_start(text: &str, field: &str, now: Timestamp) -> Result<Timestamp> {
    let start = Timestamp(written(text, field)?.start(clock(now)));
    if start > now {
        let failure = Failure::invalid(field, format!("is in the future: {text}"));
        return Err(failure.hint("Give a time that has passed"));
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Timestamp = Timestamp(0);

    #[test]
    fn a_time_is_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp(1_770_000_000_123).iso(), "2026-02-02T02:40:00.123Z");
    }

    #[test]
    fn weeks_are_those_of_iso_8601() {
        let week = |date: &str| moment_of(date).expect("the text is a date").week();
        assert_eq!(
            ["2026-02-10", "2026-01-01", "2027-01-03", "2024-12-30"].map(week),
            ["2026-W07", "2026-W01", "2026-W53", "2025-W01"]
        );
    }

    #[test]
    fn only_valid_dates_are_accepted() {
        assert!(is_date("2026-02-21") && is_date("2026-02-21T10:00:00Z"));
        assert!(is_date("0001-01-01") && is_date("9999-12-31"));
        for outside in ["-99999-01-01", "+2026-01-01", "0000-01-01", "26-01-01", "12345-01-01"] {
            assert!(!is_date(outside) && day_of(outside, "date_from", T0).is_err(), "{outside}");
            assert!(end_of(outside, "expires_at").is_err() && moment_of(outside).is_none());
        }
        assert!(!is_date("yesterday") && !is_date("2026-02-30") && !is_date("21.02.2026"));
    }

    #[test]
    fn a_past_moment_is_the_end_of_a_day_a_time_or_a_time_ago_and_never_the_future() {
        let now = moment_of("2026-02-21T10:00:00Z").expect("a time");
        let at = |text: &str| past_moment(text, "as_of", now).map(Timestamp::iso);
        let shown = |text: &str| at(text).expect("it is past");
        assert_eq!(shown("2026-02-20"), "2026-02-20T23:59:59.999Z");
        assert_eq!(shown("2026-02-21"), "2026-02-21T10:00:00.000Z", "today is until now");
        assert_eq!(shown("2026-02-20T23:00:00+02:00"), "2026-02-20T21:00:00.000Z");
        assert_eq!(shown("90m"), "2026-02-21T08:30:00.000Z");
        assert_eq!(shown("2w"), "2026-02-07T10:00:00.000Z");
        assert_eq!(shown("yesterday"), "2026-02-20T23:59:59.999Z");
        let start = past_start("yesterday", "since", now).map(Timestamp::iso);
        assert_eq!(start.expect("it is past"), "2026-02-20T00:00:00.000Z");
        for bad in ["2026-02-22", "2026-02-21T10:00:00.001Z", "soon", "0d", "-3d", "", "3é"] {
            let error = at(bad).expect_err("it is refused").to_string();
            assert!(error.contains("as_of"), "{error}");
        }
    }

    #[test]
    fn an_age_is_not_negative_if_the_clock_was_set_back() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), 0);
    }
}
