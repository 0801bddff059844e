//! Checks a value that must be one of a few words, and refuses those of a later version.

use loci_proto::error::{Code, Failure};

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
