//! Fields of the rows and JSON objects that other programs store.

use crate::times;
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

/// Returns whether a field says yes.
pub(crate) fn is_set(fields: &Fields, name: &str) -> bool {
    match fields.get(name) {
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        _ => false,
    }
}
