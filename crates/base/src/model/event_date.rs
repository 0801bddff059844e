//! The day of a memory's event: `metadata.event_date`, else the day that its text names.
//!
//! Not here: finding the day in a text (`text::features`, `text::dates::event_day`).

use crate::model::time::{Timestamp, moment_of};
use crate::text::dates::relative_day;
use crate::text::features;
use serde_json::{Map, Value};

/// Returns `metadata.event_date`.
pub fn given(metadata: &Map<String, Value>) -> Option<&str> {
    metadata.get("event_date").and_then(Value::as_str)
}

/// Returns the day that the text names, as a date; `None` if the metadata has an event date.
pub fn derived(content: &str, metadata: &Map<String, Value>) -> Option<String> {
    Some(derived_moment(content, metadata)?.date())
}

/// Returns the time of the event: `metadata.event_date`, else midnight (UTC) of the day that the text
/// names.
pub fn moment(content: &str, metadata: &Map<String, Value>) -> Option<Timestamp> {
    given(metadata).and_then(moment_of).or_else(|| derived_moment(content, metadata))
}

/// Returns the day of the event, in days since 0001-01-01 (day 1).
pub fn day(content: &str, metadata: &Map<String, Value>) -> Option<i32> {
    match given(metadata) {
        Some(date) => features::day(date),
        None => features::event_day(content),
    }
}

/// Writes the day of a relative word at the start or the end of a text, such as "yesterday", into `metadata.event_date`, and returns the word
/// and the day. Leaves a text that names a day, or whose metadata does.
pub fn resolve_relative(
    content: &str,
    metadata: &mut Map<String, Value>,
    now: Timestamp,
) -> Option<(String, String)> {
    if given(metadata).is_some() || features::event_day(content).is_some() {
        return None;
    }
    let found = relative_day::of(content, now.day())?;
    let date = Timestamp::start_of_day(found.day).date();
    metadata.insert("event_date".to_owned(), Value::from(date.clone()));
    Some((found.words, date))
}

fn derived_moment(content: &str, metadata: &Map<String, Value>) -> Option<Timestamp> {
    if given(metadata).is_some() {
        return None;
    }
    features::event_day(content).map(Timestamp::start_of_day)
}
