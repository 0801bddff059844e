//! Checks a value that must be one of a few words.

use loci_proto::error::Failure;

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
