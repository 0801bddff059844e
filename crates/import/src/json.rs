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

/// Returns the items of a document; `lists` are the names of the fields that have them.
///
/// # Errors
/// The text is not JSON, and its first line is not either.
pub(crate) fn items(text: &str, lists: &[&str]) -> serde_json::Result<Items> {
    let mut found = Items::default();
    let whole = match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => {
            found.add(text, raw, "", (lists, 0));
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
            Ok(raw) => found.add(text, raw, "", (lists, 0)),
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
    fn add(&mut self, text: &str, raw: &RawValue, list: &str, (lists, depth): (&[&str], usize)) {
        let bytes_of = |raw: &RawValue| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + raw.get().len()
        };
        let is_nested = |raw: &RawValue| raw.get().starts_with(['[', '{']);
        if raw.get().starts_with('[')
            && let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(raw.get())
        {
            let item = |raw| Item { list: list.to_owned(), bytes: bytes_of(raw) };
            self.items.extend(values.into_iter().map(item));
            return;
        }
        if raw.get().starts_with('{')
            && depth < MAX_DEPTH
            && let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get())
            && fields.iter().any(|(name, value)| lists.contains(&name.as_str()) && is_nested(value))
        {
            for (name, value) in fields {
                if lists.contains(&name.as_str()) && is_nested(value) {
                    self.add(text, value, &name, (lists, depth + 1));
                } else {
                    let reason = format!("the field {name} of the document").into();
                    self.left_out.push(LeftOut { bytes: bytes_of(value), reason });
                }
            }
            return;
        }
        self.items.push(Item { list: list.to_owned(), bytes: bytes_of(raw) });
    }
}
