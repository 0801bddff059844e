//! Screens metadata: every text in it, every name, and numbers that are cards.
//!
//! Not here: what metadata may contain otherwise (`model::content`).

use crate::privacy::policy::{Detected, Policy};
use loci_proto::error::Failure;
use serde_json::{Map, Value};

/// Screens metadata in place; returns what was replaced. Names are screened as texts.
///
/// # Errors
/// As [`Policy::screen`], naming the field, for example `metadata.steps[2]`.
pub(crate) fn screen(
    policy: &Policy,
    field: &str,
    metadata: &mut Map<String, Value>,
) -> Result<Vec<Detected>, Failure> {
    let mut detected = Vec::new();
    screen_object(policy, field, metadata, &mut detected)?;
    Ok(detected)
}

fn screen_object(
    policy: &Policy,
    field: &str,
    object: &mut Map<String, Value>,
    detected: &mut Vec<Detected>,
) -> Result<(), Failure> {
    let mut renamed = Vec::new();
    for (index, (name, value)) in object.iter_mut().enumerate() {
        // A name with a secret is not named in an error or a reply.
        let key = format!("{field} key {}", index + 1);
        let screened = screen_text(policy, &key, "", name, detected)?;
        let path = match &screened {
            Some(screened) => {
                renamed.push((name.clone(), screened.clone()));
                format!("{field}.{screened}")
            }
            None => format!("{field}.{name}"),
        };
        screen_value(policy, &path, name, value, detected)?;
    }
    for (name, screened) in renamed {
        if let Some(value) = object.remove(&name) {
            object.insert(screened, value);
        }
    }
    Ok(())
}

fn screen_value(
    policy: &Policy,
    path: &str,
    name: &str,
    value: &mut Value,
    detected: &mut Vec<Detected>,
) -> Result<(), Failure> {
    match value {
        Value::String(text) => {
            if let Some(screened) = screen_text(policy, path, name, text, detected)? {
                *text = screened;
            }
        }
        Value::Number(number) => {
            let digits = number.to_string();
            if let Some(screened) = screen_text(policy, path, name, &digits, detected)? {
                *value = Value::String(screened);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                screen_value(policy, &format!("{path}[{index}]"), name, item, detected)?;
            }
        }
        Value::Object(fields) => screen_object(policy, path, fields, detected)?,
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

/// Screens one text; a text that is only private becomes empty.
fn screen_text(
    policy: &Policy,
    path: &str,
    name: &str,
    text: &str,
    detected: &mut Vec<Detected>,
) -> Result<Option<String>, Failure> {
    let screened = policy.screen_value(path, name, text)?;
    Ok(screened.map(|screened| {
        detected.extend(screened.detected);
        screened.text
    }))
}
