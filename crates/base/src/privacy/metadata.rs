//! Screens metadata: every text in it, every name, and numbers that are cards.
//!
//! Not here: what metadata may contain otherwise (`model::content`).

use crate::privacy::policy::Policy;
use loci_proto::error::Failure;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Screens metadata in place; adds what was replaced to `redacted`.
///
/// # Errors
/// As [`Policy::screen`], naming the field, for example `metadata.steps[2]`.
pub fn screen(
    policy: &Policy,
    field: &str,
    metadata: &mut Map<String, Value>,
    redacted: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut renamed = Vec::new();
    for (index, (name, value)) in metadata.iter_mut().enumerate() {
        // A name with a secret is not repeated in a failure or a reply.
        let key = format!("{field} (name {})", index + 1);
        let screened = screen_text(policy, &key, "", name, redacted)?;
        let path = format!("{field}.{}", screened.as_ref().unwrap_or(name));
        screen_value(policy, &path, name, value, redacted)?;
        renamed.extend(screened.map(|screened| (name.clone(), screened)));
    }
    rename(metadata, renamed);
    Ok(())
}

/// Renames fields, pairs of old and new name. A name that is taken gets a number, so that no value is lost.
fn rename(fields: &mut Map<String, Value>, renamed: Vec<(String, String)>) {
    let moved = renamed.into_iter().filter_map(|(old, new)| Some((new, fields.remove(&old)?)));
    let moved: Vec<(String, Value)> = moved.collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (new, value) in moved {
        let mut name = new.clone();
        let number = numbers.entry(new.clone()).or_insert(1);
        while fields.contains_key(&name) {
            *number += 1;
            name = format!("{new} {number}");
        }
        fields.insert(name, value);
    }
}

fn screen_value(
    policy: &Policy,
    path: &str,
    name: &str,
    value: &mut Value,
    redacted: &mut Vec<String>,
) -> Result<(), Failure> {
    match value {
        Value::String(text) => {
            if let Some(screened) = screen_text(policy, path, name, text, redacted)? {
                *text = screened;
            }
        }
        Value::Number(number) => {
            if let Some(screened) = screen_text(policy, path, "", &number.to_string(), redacted)? {
                *value = Value::String(screened);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                screen_value(policy, &format!("{path}[{index}]"), name, item, redacted)?;
            }
        }
        Value::Object(fields) => screen(policy, path, fields, redacted)?,
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

/// Screens one text; returns it if it changes.
fn screen_text(
    policy: &Policy,
    path: &str,
    name: &str,
    text: &str,
    redacted: &mut Vec<String>,
) -> Result<Option<String>, Failure> {
    let screened = policy.screen_value(name, text).map_err(|failure| failure.at(path))?;
    redacted.extend(screened.redacted.iter().map(|found| format!("{path}: {found}")));
    Ok((screened.text != text).then_some(screened.text))
}

/// A JSON value without its secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactedJson {
    /// The value.
    pub value: Value,
    /// Kind, first character and character after the last, in the text that each was found in.
    pub found: Vec<(String, usize, usize)>,
}

impl Policy {
    /// Replaces the secrets in a JSON value, whatever the mode; `None` if there is nothing to
    /// replace.
    pub fn redact_json(&self, mut value: Value) -> Option<RedactedJson> {
        let mut found = Vec::new();
        redact_value(self, "", &mut value, &mut found);
        (!found.is_empty()).then_some(RedactedJson { value, found })
    }
}

fn redact_value(
    policy: &Policy,
    name: &str,
    value: &mut Value,
    found: &mut Vec<(String, usize, usize)>,
) {
    match value {
        Value::String(text) => {
            if let Some(redacted) = policy.redact_value(name, text, found) {
                *text = redacted;
            }
        }
        Value::Number(number) => {
            if let Some(redacted) = policy.redact_value("", &number.to_string(), found) {
                *value = Value::String(redacted);
            }
        }
        Value::Array(items) => {
            for item in items {
                redact_value(policy, name, item, found);
            }
        }
        Value::Object(fields) => {
            let mut renamed = Vec::new();
            for (name, value) in fields.iter_mut() {
                redact_value(policy, name, value, found);
                renamed.extend(policy.redact_value("", name, found).map(|new| (name.clone(), new)));
            }
            rename(fields, renamed);
        }
        Value::Null | Value::Bool(_) => {}
    }
}
