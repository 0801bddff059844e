//! Finds texts that ask for what no wish of a user asks for: to ignore instructions, to hide something
//! from the user, to send data away. Why, as a set of [`Flag`]s.
//!
//! A flag is telemetry, not a defence: a text in plain words passes. The gates that a flag and low
//! trust close are the defence (`model::provenance`). PURE: text in, flags out. `words` splits a
//! text, `phrases` matches the `rules` on words, `markers` finds tags and calls, `encoded` decodes
//! what hides a text. Not here: the gates, and texts of persons, which are never flagged.

mod encoded;
mod flag;
mod markers;
mod phrases;
mod rules;
#[cfg(test)]
mod tests;
mod words;

pub use flag::{Flag, Flags};

use loci_proto::gate::ModelText;
use serde_json::{Map, Value};

/// Returns the flags of a text and of all texts in its metadata.
pub fn of_memory(content: &str, metadata: &Map<String, Value>) -> Flags {
    let mut flags = of_text(content);
    of_fields(metadata, &mut flags);
    flags
}

fn of_fields(fields: &Map<String, Value>, flags: &mut Flags) {
    for (name, value) in fields {
        flags.merge(of_text(name));
        of_value(value, flags);
    }
}

fn of_value(value: &Value, flags: &mut Flags) {
    match value {
        Value::String(text) => flags.merge(of_text(text)),
        Value::Array(items) => items.iter().for_each(|item| of_value(item, flags)),
        Value::Object(inner) => of_fields(inner, flags),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the flags of a text.
pub fn of_text(text: &str) -> Flags {
    let mut flags = Flags::default();
    of_words_and_markers(text, &mut flags);
    for decoded in encoded::decoded_texts(text) {
        let mut inner = Flags::default();
        of_words_and_markers(&decoded.text, &mut inner);
        if decoded.is_suspicious || !inner.is_empty() {
            flags.insert(Flag::Encoded);
        }
        flags.merge(inner);
    }
    flags
}

/// Returns the flags of a text from outside: also that it orders a model at all.
pub fn of_outside(content: &str, metadata: &Map<String, Value>) -> Flags {
    let mut flags = of_memory(content, metadata);
    if phrases::orders_a_model(&words::split(content)) {
        flags.insert(Flag::Order);
    }
    flags
}

/// Returns whether a text orders a model: what the gate of names and remarks asks.
#[must_use]
pub fn orders(text: &str) -> bool {
    !of_outside(text, &Map::new()).is_empty()
}

/// Returns a name as a model is shown it.
#[must_use]
pub fn safe_name(name: &str) -> ModelText {
    ModelText::name(name, orders)
}

fn of_words_and_markers(text: &str, flags: &mut Flags) {
    let plain = words::split(text);
    phrases::find(&plain, flags);
    if let Some(unmasked) = words::unmasked(&plain) {
        phrases::find(&unmasked, flags);
    }
    markers::find(text, flags);
}

/// Adds a flag if characters that hide text were removed, by the list of what was removed.
pub fn of_removed(removed: &[String], flags: &mut Flags) {
    let hides_text = |kind: &String| kind.starts_with("bidi") || kind.starts_with("tag");
    if removed.iter().any(hides_text) {
        flags.insert(Flag::Hidden);
    }
}
