//! Fields of the rows and JSON objects that other programs store.

use crate::times;
use loci_proto::limits::{METADATA_BYTES, METADATA_DEPTH};
use serde_json::{Map, Value};

/// A row or object.
pub(crate) type Fields = Map<String, Value>;

/// Returns a text that is not empty.
pub(crate) fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Returns a text, or a number as text.
pub(crate) fn id(fields: &Fields, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the first of the fields that is a time: a text, or a number since 1970.
pub(crate) fn time(fields: &Fields, names: &[&str]) -> Option<i64> {
    names.iter().find_map(|name| match fields.get(*name)? {
        Value::String(text) => times::of_text(text),
        Value::Number(number) => times::of_number(number.as_f64()?),
        _ => None,
    })
}

/// Returns a field that is an object, or JSON of one in a text.
pub(crate) fn object(fields: &Fields, name: &str) -> Fields {
    match fields.get(name) {
        Some(Value::Object(object)) => object.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        _ => Fields::new(),
    }
}

/// Keeps in the metadata, as `fields`, what a record says beside what is `known` to be read or to be of no use elsewhere. What is too
/// large stays away, and its names are returned.
pub(crate) fn keep_rest(metadata: &mut Fields, record: &Fields, known: &[&str]) -> Option<String> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty() || text.trim() == "{}" || text.trim() == "[]",
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let rest =
        record.iter().filter(|(name, value)| !known.contains(&name.as_str()) && !is_empty(value));
    let rest: Fields = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if rest.is_empty() {
        return None;
    }
    let names = rest.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    metadata.insert("fields".to_owned(), Value::Object(rest));
    let is_small = serde_json::to_string(&metadata).is_ok_and(|json| json.len() <= METADATA_BYTES);
    if is_small && depth(&Value::Object(metadata.clone())) <= METADATA_DEPTH {
        return None;
    }
    metadata.remove("fields");
    Some(names)
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Returns whether a field says yes.
pub(crate) fn is_set(fields: &Fields, name: &str) -> bool {
    match fields.get(name) {
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        _ => false,
    }
}
