//! Checks a value that must be one of a few words or in a range, and refuses those of a later version.

use loci_proto::error::{Code, Failure};
use std::ops::RangeInclusive;

/// The log levels.
pub const LOG_LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

/// Refuses a value that is not one of `allowed`.
///
/// # Errors
/// `invalid`, naming the key.
pub fn check_one_of(key: &str, value: &str, allowed: &[&str]) -> Result<(), Failure> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(Failure::invalid(key, format!("must be one of {}, not {value}", allowed.join(", "))))
}

/// Returns the failure for a key or value of a later version.
#[must_use]
pub fn not_in_this_version(key: &str, predicate: &str) -> Failure {
    Failure::new(Code::NotInThisVersion, format!("{predicate} not supported in this version"))
        .at(key)
}

/// Refuses the first number that is out of its range: key, value and range.
///
/// # Errors
/// `invalid`, naming the key and the range.
pub fn check_all<const COUNT: usize>(
    ranges: [(&str, f64, RangeInclusive<f64>); COUNT],
) -> Result<(), Failure> {
    match ranges.into_iter().find(|(_, value, range)| !range.contains(value)) {
        None => Ok(()),
        Some((key, value, range)) => {
            let (min, max) = (range.start(), range.end());
            Err(Failure::invalid(key, format!("must be from {min} to {max}, not {value}")))
        }
    }
}
