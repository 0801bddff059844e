//! Times as other programs write them.

use loci_base::model::time::moment_of;
use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// Times before this, in milliseconds since 1970 (the year 2100), are in range.
const END: i64 = 4_102_444_800_000;

/// Returns when a file was last changed, in milliseconds since 1970.
pub(crate) fn of_file(meta: &Metadata) -> i64 {
    let changed = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    changed.and_then(|since| i64::try_from(since.as_millis()).ok()).map_or(0, |at| at.min(END - 1))
}

/// Returns the time that a text states: a date (also as `20260304`), a time of RFC 3339, or one without seconds or a time zone, which is
/// UTC.
pub(crate) fn of_text(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(" UTC");
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return of_parts(&text[..4], &text[4..6], &text[6..]);
    }
    let with_t = text.replacen(' ', "T", 1);
    [text.to_owned(), with_t.clone(), format!("{with_t}Z"), format!("{with_t}:00Z")]
        .iter()
        .find_map(|text| moment_of(text))
        .map(|at| at.0)
        .filter(|at| (0..END).contains(at))
}

/// Returns the day with which the name of a note begins (`2026-03-04 Standup`, `2026_03_04`), or that it is (`04-03-2026`, if the other
/// order would be no date, and `04.03.2026`).
pub(crate) fn of_name(stem: &str) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| {
        stem.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let sign = |at: usize| stem.as_bytes().get(at).copied().filter(|sign| b"-_.".contains(sign));
    if let (Some(year), Some(month), Some(day)) = (part(0..4), part(5..7), part(8..10)) {
        let is_whole = !stem[10..].starts_with(|c: char| c.is_ascii_digit());
        return if sign(4)? == sign(7)? && is_whole { of_parts(year, month, day) } else { None };
    }
    if let Some(day) = stem.get(..8).and_then(|_| part(0..8)) {
        let is_whole = !stem[8..].starts_with(|c: char| c.is_alphanumeric());
        return if is_whole { of_parts(&day[..4], &day[4..6], &day[6..]) } else { None };
    }
    let (first, second, year) = (part(0..2)?, part(3..5)?, part(6..10)?);
    if stem.len() != 10 || sign(2)? != sign(5)? {
        return None;
    }
    let orders = [of_parts(year, second, first), of_parts(year, first, second)];
    match orders {
        [Some(at), _] if sign(2) == Some(b'.') => Some(at),
        [Some(at), None] | [None, Some(at)] => Some(at),
        [Some(at), Some(other)] if at == other => Some(at),
        _ => None,
    }
}

fn of_parts(year: &str, month: &str, day: &str) -> Option<i64> {
    let at = moment_of(&format!("{year}-{month}-{day}"))?.0;
    Some(at).filter(|at| (0..END).contains(at))
}

/// Returns a time that is given in seconds since 1970, or in milliseconds, if it is too large for seconds.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked afterwards")]
pub(crate) fn of_number(number: f64) -> Option<i64> {
    [number * 1000.0, number].map(|at| at as i64).into_iter().find(|at| (1..END).contains(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_a_zone_are_read() {
        let at = of_text("2026-03-04T10:00:00Z");
        assert_eq!(at, Some(1_772_618_400_000));
        for text in [
            "2026-03-04 10:00:00",
            "2026-03-04T10:00:00.000000",
            "2026-03-04T11:00:00+01:00",
            "2026-03-04 10:00:00 UTC",
            "2026-03-04 10:00",
            "2026-03-04T10:00",
        ] {
            assert_eq!(of_text(text), at, "{text}");
        }
        assert_eq!(of_text("yesterday"), None);
        assert_eq!(of_number(1_772_618_400.5), Some(1_772_618_400_500));
        assert_eq!(of_number(1_772_618_400_500.0), Some(1_772_618_400_500));
        assert_eq!([f64::NAN, f64::INFINITY, -1.0, 0.0, 1e16].map(of_number), [None; 5]);
    }

    #[test]
    fn the_name_of_a_daily_note_is_its_day_if_it_is_sure() {
        let day = of_text("2026-03-04");
        assert!(day.is_some() && of_text("20260304") == day);
        for name in ["2026-03-04", "2026_03_04", "2026-03-04 Standup", "20260304", "04.03.2026"] {
            assert_eq!(of_name(name), day, "{name}");
        }
        assert_eq!(of_name("24-03-2026"), of_text("2026-03-24"));
        assert_eq!(of_name("03-24-2026"), of_text("2026-03-24"));
        for name in [
            "04-03-2026",
            "2026-13-04",
            "2026-03-041",
            "20260304x",
            "é",
            "v2",
            "12345678",
            "99-99-2026",
        ] {
            assert_eq!(of_name(name), None, "{name}");
        }
    }
}
