//! Points in time, passed to the engine as arguments. The engine never reads a clock.
//!
//! Days, weeks and midnights are those of the person's time zone, which the daemon sets once ([`set_zone`]); until then of UTC. Times in
//! replies are in UTC.

use crate::Result;
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, SecondsFormat, Utc};
use loci_proto::error::Failure;
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

/// Returns the offset from UTC, in milliseconds, at a time in milliseconds since 1970 (UTC).
pub type Zone = fn(i64) -> i64;

static ZONE: OnceLock<Zone> = OnceLock::new();

/// Sets the time zone of days. Only the first call counts: the index keeps the days of memories.
pub fn set_zone(zone: Zone) {
    let _ = ZONE.set(zone);
}

fn offset_at(milliseconds: i64) -> i64 {
    ZONE.get().map_or(0, |zone| zone(milliseconds))
}

/// Returns the time of a local one, given as if it were UTC. Of an hour that occurs twice, the first.
fn from_local(local: i64) -> Timestamp {
    let guess = local - offset_at(local);
    Timestamp(local - offset_at(guess))
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
        from_local((i64::from(day) - DAY_OF_1970) * DAY)
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
    date_of(text).is_some() || time_of(text).is_some()
}

/// Returns the date that a text states: a year of four digits (0001 to 9999), month and day.
fn date_of(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| has_supported_year(text))
}

/// Returns the time that a text in the format of RFC 3339 states, in the same years.
fn time_of(text: &str) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(text).ok().filter(|_| has_supported_year(text))
}

/// Returns true if a text begins with a year of four digits other than 0000, and a hyphen. The
/// parser accepts signs, and years of one to six digits.
fn has_supported_year(text: &str) -> bool {
    text.split_once('-').is_some_and(|(year, _)| {
        year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) && year != "0000"
    })
}

/// Returns the time of a date (its midnight) or of a date with a time; `None` for anything else.
pub fn moment_of(text: &str) -> Option<Timestamp> {
    if let Some(date) = date_of(text) {
        return Some(from_local(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis()));
    }
    time_of(text).map(|moment| Timestamp(moment.timestamp_millis()))
}

/// Returns the day of a date, or of a date with a time (RFC 3339) in the time zone given there, in
/// days since 0001-01-01 (day 1).
///
/// # Errors
/// `invalid`, naming the field.
pub fn day_of(text: &str, field: &str) -> Result<i32> {
    let date = date_of(text).or_else(|| time_of(text).map(|at| at.date_naive()));
    date.map(|date| date.num_days_from_ce()).ok_or_else(|| not_a_date(field))
}

fn not_a_date(field: &str) -> Failure {
    Failure::invalid(
        field,
        "must be a date (2026-12-31) or a date with a time (2026-12-31T18:00:00Z), in the years 0001 to 9999",
    )
}

/// Returns the end of a date: the next midnight for a date, the time itself for a date with a time
/// (RFC 3339).
///
/// # Errors
/// `invalid`, naming the field.
pub fn end_of(text: &str, field: &str) -> Result<Timestamp> {
    if let Some(date) = date_of(text)
        && let Some(midnight) = date.and_hms_opt(0, 0, 0)
    {
        // A day on which the clock is changed does not have 24 hours.
        return Ok(from_local(midnight.and_utc().timestamp_millis() + DAY));
    }
    match time_of(text) {
        Some(moment) => Ok(Timestamp(moment.timestamp_millis())),
        None => Err(not_a_date(field)),
    }
}

/// Returns the past moment that a text states: a date (its end, or now if that is to come), a date
/// with a time (RFC 3339), or a time ago such as `3d`, with the units s, m, h, d, w and y.
///
/// # Errors
/// `invalid`, naming the field, also for the future.
pub fn past_moment(text: &str, field: &str, now: Timestamp) -> Result<Timestamp> {
    let is_today = date_of(text).is_some() && moment_of(text).is_some_and(|start| start <= now);
    let at = match ago(text) {
        Some(age) => now.plus(-age),
        None if is_today => end_of(text, field)?.plus(-1).min(now),
        None => end_of(text, field).map_err(|_| not_a_moment(field))?,
    };
    if at > now {
        let failure = Failure::invalid(field, format!("is in the future: {text}"));
        return Err(failure.hint("Give a time that has passed"));
    }
    Ok(at)
}

/// Like [`past_moment`], but a date is its beginning.
///
/// # Errors
/// As [`past_moment`].
pub fn past_start(text: &str, field: &str, now: Timestamp) -> Result<Timestamp> {
    match moment_of(text).filter(|start| date_of(text).is_some() && *start <= now) {
        Some(start) => Ok(start),
        None => past_moment(text, field, now),
    }
}

/// Returns the milliseconds of a time ago such as `3d`.
fn ago(text: &str) -> Option<i64> {
    let unit = match text.chars().next_back()? {
        's' => 1000,
        'm' => 60_000,
        'h' => HOUR,
        'd' => DAY,
        'w' => 7 * DAY,
        'y' => 365 * DAY,
        _ => return None,
    };
    let number: u32 = text[..text.len() - 1].parse().ok().filter(|number| *number > 0)?;
    Some(i64::from(number) * unit)
}

fn not_a_moment(field: &str) -> Failure {
    let message = "must be a date (2026-12-31), a date with a time (2026-12-31T18:00:00Z) or a time ago (90m, 3d, 2w)";
    Failure::invalid(field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(!is_date(outside) && day_of(outside, "date_from").is_err(), "{outside}");
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
        for bad in ["2026-02-22", "2026-02-21T10:00:00.001Z", "yesterday", "0d", "-3d", "", "3é"] {
            let error = at(bad).expect_err("it is refused").to_string();
            assert!(error.contains("as_of"), "{error}");
        }
    }

    #[test]
    fn an_age_is_not_negative_if_the_clock_was_set_back() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), 0);
    }
}
