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

/// Returns the time that a text states: a date, a time of RFC 3339, or one without a time zone,
/// which is UTC.
pub(crate) fn of_text(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(" UTC");
    let with_t = text.replacen(' ', "T", 1);
    [text.to_owned(), with_t.clone(), format!("{with_t}Z")]
        .iter()
        .find_map(|text| moment_of(text))
        .map(|at| at.0)
        .filter(|at| (0..END).contains(at))
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
        ] {
            assert_eq!(of_text(text), at, "{text}");
        }
        assert_eq!(of_text("yesterday"), None);
        assert_eq!(of_number(1_772_618_400.5), Some(1_772_618_400_500));
        assert_eq!(of_number(1_772_618_400_500.0), Some(1_772_618_400_500));
        assert_eq!([f64::NAN, f64::INFINITY, -1.0, 0.0, 1e16].map(of_number), [None; 5]);
    }
}
