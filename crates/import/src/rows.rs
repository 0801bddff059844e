//! The records that other programs store: rows of tables and JSON objects. A format takes the fields that it knows, of the type that it
//! expects; the rest is kept in the metadata or listed, so that no field is lost.

use crate::times;
use loci_proto::foreign::ForeignMemory;
use loci_proto::limits::{METADATA_BYTES, METADATA_DEPTH};
use serde_json::{Map, Value};

/// The fields of a row or object.
pub(crate) type Fields = Map<String, Value>;

/// Names and ends of names of fields that only serve a program.
const BOOKKEEPING: &str = " id uuid hash md5 score embedding embeddings vector timestamp version createdAt updatedAt importance ";
const BOOKKEEPING_ENDS: [&str; 7] = ["_id", "_ids", "_hash", "_count", "_at", "_iso", "_version"];

/// A record that is being read.
#[derive(Debug)]
pub(crate) struct Record {
    pub fields: Fields,
    /// Where it is.
    pub place: String,
}

impl Record {
    /// Returns a text that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        text(&self.fields, name)
    }

    /// Takes the first of the fields that `read` can read; others are as if unknown.
    pub fn take<T>(&mut self, names: &[&str], read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let found = names.iter().find_map(|name| Some((name, read(self.fields.get(*name)?)?)));
        let (name, value) = found?;
        self.fields.remove(*name);
        Some(value)
    }

    /// Takes the first of the fields that is a text, and others that say the same.
    pub fn take_text(&mut self, names: &[&str]) -> Option<String> {
        let found = names.iter().find_map(|name| self.text(name))?.to_owned();
        for name in names {
            if self.text(name) == Some(&found) {
                self.fields.remove(*name);
            }
        }
        Some(found)
    }

    /// Takes a text if it is one of `known`.
    pub fn take_one_of(&mut self, name: &str, known: &[&str]) -> Option<String> {
        self.take(&[name], |value| {
            value.as_str().filter(|text| known.contains(text)).map(str::to_owned)
        })
    }

    /// Takes the first of the fields that is an id.
    pub fn take_id(&mut self, names: &[&str]) -> Option<String> {
        self.take(names, id)
    }

    /// Takes a field that is an object, or JSON of one in a text.
    pub fn take_object(&mut self, name: &str) -> Fields {
        let object = |value: &Value| match value {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        };
        self.take(&[name], object).unwrap_or_default()
    }

    /// Takes whether a field says yes.
    pub fn take_flag(&mut self, name: &str) -> bool {
        let flag = |value: &Value| match value {
            Value::Bool(value) => Some(*value),
            Value::Number(number) => Some(number.as_f64() != Some(0.0)),
            Value::String(text) => Some(!text.is_empty()),
            _ => None,
        };
        self.take(&[name], flag).unwrap_or(false)
    }

    /// Gives a memory the times of the record.
    pub fn date(&mut self, memory: &mut ForeignMemory, created: &[&str]) {
        memory.created_at = self.take(created, time).unwrap_or(memory.created_at);
        let updated_at = self.take(&["updated_at"], time).unwrap_or(memory.created_at);
        memory.updated_at = updated_at.max(memory.created_at);
    }

    /// Returns the names of the fields that are left and only serve the program, among them those of `own`, and the other fields.
    pub fn rest(self, own: &str) -> (Vec<String>, Fields) {
        let (mut bookkeeping, mut others) = (Vec::new(), Fields::new());
        for (name, value) in self.fields {
            let is_known = is_listed(BOOKKEEPING, &name)
                || BOOKKEEPING_ENDS.iter().any(|end| name.ends_with(end));
            if is_empty(&value) {
                continue;
            }
            if is_listed(own, &name) && is_bare(&value, false) || is_known && is_bare(&value, true)
            {
                bookkeeping.push(name);
            } else {
                others.insert(name, value);
            }
        }
        (bookkeeping, others)
    }
}

fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns a text that is not empty.
pub(crate) fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Returns a text, or a number as text.
pub(crate) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a time: a text, or a number since 1970.
pub(crate) fn time(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => times::of_text(text),
        Value::Number(number) => times::of_number(number.as_f64()?),
        _ => None,
    }
}

/// Adds fields to the metadata, as `fields`, and returns the names of those for which it has no room.
pub(crate) fn keep(metadata: &mut Fields, others: Fields) -> Vec<String> {
    let key = if metadata.contains_key("fields") { "other_fields" } else { "fields" };
    let (mut room, mut too_large) = (METADATA_BYTES - 100, Vec::new());
    *metadata = fitting(std::mem::take(metadata), (&mut room, 1), &mut too_large);
    let kept = fitting(others, (&mut room, 2), &mut too_large);
    if !kept.is_empty() {
        metadata.insert(key.to_owned(), Value::Object(kept));
    }
    too_large
}

/// Returns the fields for which there is room, below a number of levels.
fn fitting(
    fields: Fields,
    (room, levels): (&mut usize, usize),
    too_large: &mut Vec<String>,
) -> Fields {
    let (mut kept, mut sizes) = (Fields::new(), 0);
    for (name, value) in fields {
        let size = Value::from(name.as_str()).to_string().len() + value.to_string().len() + 2;
        if sizes + size <= *room && depth(&value) + levels <= METADATA_DEPTH {
            sizes += size;
            kept.insert(name, value);
        } else {
            too_large.push(name);
        }
    }
    *room -= sizes;
    kept
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(text.trim(), "" | "{}" | "[]"),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Returns whether a value has no words: numbers, times, hashes, ids.
fn is_bare(value: &Value, has_digits: bool) -> bool {
    match value {
        Value::String(text) => {
            let is_word = !has_digits || text.contains(|c: char| c.is_ascii_digit());
            is_word && !text.trim().contains(char::is_whitespace) || times::of_text(text).is_some()
        }
        Value::Array(items) => items.iter().all(|item| is_bare(item, has_digits)),
        Value::Object(_) => false,
        _ => true,
    }
}
