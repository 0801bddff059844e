//! The person's days and times: every time that the command line prints is in the local time zone (`TZ`, else that of the system).
//!
//! Dates that a person gives mean local days too. Not here: `--json`, which prints the daemon's times, in UTC.

use crate::output::escape::escape_line;
use chrono::{DateTime, Datelike, Local, NaiveDate, Offset, TimeZone};
use loci_proto::when::Clock;

/// Parses a time of the daemon (RFC 3339).
fn parse(time: &str) -> Option<DateTime<Local>> {
    DateTime::parse_from_rfc3339(time).ok().map(|at| at.with_timezone(&Local))
}

/// Returns the local day of an RFC 3339 time as `2026-11-22`; a date stays as it is.
#[must_use]
pub fn date(time: &str) -> String {
    parse(time).map_or_else(
        || escape_line(time.get(..10).unwrap_or(time)),
        |at| at.format("%Y-%m-%d").to_string(),
    )
}

/// Returns the local day of an RFC 3339 time.
#[must_use]
pub fn day(time: &str) -> Option<NaiveDate> {
    parse(time).map(|at| at.date_naive())
}

/// Returns an RFC 3339 time to the second with its offset, as `2026-11-22 09:30:00 +01:00`.
#[must_use]
pub fn date_time(time: &str) -> String {
    parse(time)
        .map_or_else(|| escape_line(time), |at| at.format("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// Returns an RFC 3339 time to the minute with its offset, as `2026-11-22 09:30 +01:00`.
#[must_use]
pub fn minute(time: &str) -> String {
    parse(time).map_or_else(|| escape_line(time), |at| at.format("%Y-%m-%d %H:%M %:z").to_string())
}

/// Returns an RFC 3339 time to the minute without its offset, for narrow tables.
#[must_use]
pub fn short_minute(time: &str) -> String {
    parse(time).map_or_else(|| escape_line(time), |at| at.format("%Y-%m-%d %H:%M").to_string())
}

/// Returns the time of day with seconds, for what is shown as it happens.
#[must_use]
pub fn clock() -> String {
    Local::now().format("%H:%M:%S").to_string()
}

/// Returns the clock and the time zone, for times that a person has written.
#[must_use]
pub fn now() -> Clock {
    Clock { now: Local::now().timestamp_millis(), zone: offset_at }
}

fn offset_at(milliseconds: i64) -> i64 {
    let local = Local.timestamp_millis_opt(milliseconds).earliest();
    local.map_or(0, |local| i64::from(local.offset().fix().local_minus_utc()) * 1000)
}

/// Returns today's date.
#[must_use]
pub fn today() -> NaiveDate {
    Local::now().date_naive()
}

/// Returns the Monday of a day's week.
#[must_use]
pub fn monday(day: NaiveDate) -> NaiveDate {
    day.week(chrono::Weekday::Mon).first_day()
}

/// Returns the first day of a day's month.
#[must_use]
pub fn first_of_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stays_and_what_is_no_time_is_escaped() {
        assert_eq!(date("2026-11-22"), "2026-11-22");
        assert_eq!(date_time("\u{1b}x"), "\\u{1b}x");
        assert_eq!(day("soon"), None);
        let printed = date_time("2026-11-22T09:30:00.000Z");
        assert!(DateTime::parse_from_str(&printed, "%Y-%m-%d %H:%M:%S %:z").is_ok_and(
            |at| at == DateTime::parse_from_rfc3339("2026-11-22T09:30:00Z").unwrap_or_default()
        ));
    }
}
