//! From when to when a memory is true in the world, as its metadata says (`valid_from`, `valid_to`).
//! That is apart from when it was recorded, and from its expiry, which hides it.
//!
//! Not here: the place of what is not valid in a recall (`operations::recall`).

use crate::Result;
use crate::model::time::{self, Timestamp};
use loci_proto::error::Failure;
use serde_json::{Map, Value};

/// The fields of metadata and of requests.
pub(crate) const VALID_FROM: &str = "valid_from";
/// The last day on which it is true.
pub(crate) const VALID_TO: &str = "valid_to";
/// The value by which an edit removes a field.
const NEVER: &str = "never";

/// Returns the first moment of validity as it is given.
pub fn from(metadata: &Map<String, Value>) -> Option<&str> {
    metadata.get(VALID_FROM).and_then(Value::as_str).filter(|text| time::is_date(text))
}

/// Returns the last day or moment of validity as it is given.
pub fn to(metadata: &Map<String, Value>) -> Option<&str> {
    metadata.get(VALID_TO).and_then(Value::as_str).filter(|text| time::is_date(text))
}

/// Returns whether two memories are true from and until the same time.
pub fn is_same(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    (from(a), to(a)) == (from(b), to(b))
}

/// Returns why a memory is not true at a time: `valid until …` or `valid from …`.
pub fn outside(metadata: &Map<String, Value>, at: Timestamp) -> Option<String> {
    let is_over = |text: &&str| time::end_of(text, VALID_TO).is_ok_and(|end| end <= at);
    let is_to_come = |text: &&str| time::moment_of(text).is_some_and(|start| start > at);
    let until = to(metadata).filter(is_over).map(|text| format!("valid until {text}"));
    until.or_else(|| from(metadata).filter(is_to_come).map(|text| format!("valid from {text}")))
}

/// The validity that a request sets; an edit removes a field by `never`.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// `valid_from`, as a date or a time.
    pub from: Option<&'a str>,
    /// `valid_to`, as a date or a time.
    pub to: Option<&'a str>,
}

impl Given<'_> {
    /// Writes the fields to metadata, where they are kept, and checks the result.
    ///
    /// # Errors
    /// `invalid`, naming the field.
    pub fn write(self, metadata: &mut Map<String, Value>) -> Result<()> {
        for (field, text) in [(VALID_FROM, self.from), (VALID_TO, self.to)] {
            match text {
                None => {}
                Some(NEVER) => drop(metadata.remove(field)),
                Some(text) => drop(metadata.insert(field.to_owned(), text.into())),
            }
        }
        check(metadata)
    }
}

/// Refuses a field that is no date, and an end before the beginning.
fn check(metadata: &Map<String, Value>) -> Result<()> {
    for field in [VALID_FROM, VALID_TO] {
        let Some(value) = metadata.get(field) else { continue };
        if !value.as_str().is_some_and(time::is_date) {
            let message =
                "must be a date (2026-12-31) or a date with a time (2026-12-31T18:00:00Z)";
            return Err(Failure::invalid(field, message));
        }
    }
    let start = from(metadata).and_then(time::moment_of);
    let end = to(metadata).and_then(|text| time::end_of(text, VALID_TO).ok());
    // The end of a day is the beginning of the next one.
    let is_moment = from(metadata) == to(metadata);
    if !is_moment && start.zip(end).is_some_and(|(start, end)| end <= start) {
        return Err(Failure::invalid(VALID_TO, "is before valid_from")
            .hint("Give the last day on which it is true"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_fact_is_true_from_its_first_day_to_the_end_of_its_last() {
        let fact = metadata(&json!({"valid_from": "2026-03-01", "valid_to": "2026-06-30"}));
        let at = |text: &str| outside(&fact, time::moment_of(text).expect("a time"));
        assert_eq!(at("2026-02-28T23:00:00Z").as_deref(), Some("valid from 2026-03-01"));
        assert_eq!(at("2026-03-01"), None);
        assert_eq!(at("2026-06-30T23:59:59Z"), None);
        assert_eq!(at("2026-07-01").as_deref(), Some("valid until 2026-06-30"));
        let other = metadata(&json!({"valid_to": "when we move"}));
        assert_eq!(outside(&other, Timestamp(i64::MAX)), None, "a field of another meaning");
    }

    #[test]
    fn the_end_is_not_before_the_beginning_and_never_removes_a_field() {
        let mut fact = Map::new();
        let day = Given { from: Some("2026-03-01"), to: Some("2026-03-01") };
        day.write(&mut fact).expect("one day is valid");
        let early = Given { from: None, to: Some("2026-02-28") };
        let error = early.write(&mut fact.clone()).expect_err("it ends before it begins");
        assert!(error.to_string().contains("valid_to"), "{error}");
        let eve = Given { from: Some("2026-03-02"), to: None };
        assert!(eve.write(&mut fact.clone()).is_err(), "the day before ends as it begins");
        let bad = Given { from: Some("spring"), to: None };
        let error = bad.write(&mut fact.clone()).expect_err("it is no date");
        assert!(error.to_string().contains("valid_from"), "{error}");
        Given { from: Some("never"), to: None }.write(&mut fact).expect("it is removed");
        assert_eq!(Value::Object(fact), json!({"valid_to": "2026-03-01"}));
    }
}
