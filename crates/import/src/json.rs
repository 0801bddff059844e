//! The items of a JSON document and where each is in it: a list, an object with lists, one object, or one value per line. Pure.
//!
//! Items are parsed one at a time, so that a large document is not in memory twice.

use crate::markup::LeftOut;
use crate::rows::Fields;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum depth of objects around the lists.
const MAX_DEPTH: usize = 4;
/// Fields that programs put around their lists.
const WRAPPERS: [&str; 6] = ["data", "items", "results", "result", "memories", "graph"];

/// A value of a document.
pub(crate) struct Item {
    /// The name of its list, or nothing.
    pub list: String,
    /// Its bytes.
    pub bytes: Range<usize>,
}

impl Item {
    /// Parses it.
    pub fn value(&self, text: &str) -> Value {
        serde_json::from_str(&text[self.bytes.clone()]).unwrap_or_default()
    }

    /// Parses it; `None` if it is no object.
    pub fn fields(&self, text: &str) -> Option<Fields> {
        serde_json::from_str(&text[self.bytes.clone()]).ok()
    }
}

/// The items of a document, and what beside them is left out.
#[derive(Default)]
pub(crate) struct Items {
    pub items: Vec<Item>,
    pub left_out: Vec<LeftOut>,
}

/// What an object with items has: fields with lists, and none of the texts that an item has.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub lists: &'static [&'static str],
    pub texts: &'static [&'static str],
}

impl Shape {
    fn is_list(self, name: &str, value: &RawValue) -> bool {
        (self.lists.contains(&name) || WRAPPERS.contains(&name))
            && value.get().starts_with(['[', '{'])
    }

    /// Returns whether an object is around items, and no item itself.
    fn is_around(self, fields: &BTreeMap<String, &RawValue>) -> bool {
        let is_text = |name: &&str| {
            fields
                .get(*name)
                .is_some_and(|value| value.get().starts_with('"') && value.get() != "\"\"")
        };
        fields.iter().any(|(name, value)| self.is_list(name, value))
            && !self.texts.iter().any(is_text)
    }
}

/// Returns the items of a document.
///
/// # Errors
/// The text is not JSON, and its first line is not either.
pub(crate) fn items(text: &str, shape: Shape) -> serde_json::Result<Items> {
    let mut found = Items::default();
    let whole = match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => {
            found.add(text, raw, "", (shape, 0));
            return Ok(found);
        }
        Err(error) => error,
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bytes = at..at + line.len();
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<&RawValue>(line.trim()) {
            Ok(raw) => found.add(text, raw, "", (shape, 0)),
            Err(_) if found.items.is_empty() => return Err(whole),
            Err(error) => {
                let reason = format!("is not JSON: {error}").into();
                found.left_out.push(LeftOut { bytes, reason });
            }
        }
    }
    Ok(found)
}

impl Items {
    fn add(&mut self, text: &str, raw: &RawValue, list: &str, (shape, depth): (Shape, usize)) {
        let bytes_of = |raw: &RawValue| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + raw.get().len()
        };
        if raw.get().starts_with('[')
            && let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(raw.get())
        {
            let item = |raw| Item { list: list.to_owned(), bytes: bytes_of(raw) };
            self.items.extend(values.into_iter().map(item));
        } else if raw.get().starts_with('{')
            && depth < MAX_DEPTH
            && let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get())
            && shape.is_around(&fields)
        {
            for (name, value) in fields {
                if shape.is_list(&name, value) {
                    self.add(text, value, &name, (shape, depth + 1));
                } else {
                    let reason = format!("the field {name} of the document").into();
                    self.left_out.push(LeftOut { bytes: bytes_of(value), reason });
                }
            }
        } else {
            self.items.push(Item { list: list.to_owned(), bytes: bytes_of(raw) });
        }
    }
}
