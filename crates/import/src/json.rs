//! The items of a JSON document and where each is in it: a list, an object with lists, one object, or one value per line. Pure.
//!
//! Items are parsed one at a time, so that a large document is not in memory twice.

use crate::markup::LeftOut;
use crate::rows::Fields;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
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

    /// Parses it; `None` if it is no object. Of fields with one name the later ones get a number.
    pub fn fields(&self, text: &str) -> Option<Fields> {
        let Pairs(pairs) = serde_json::from_str(&text[self.bytes.clone()]).ok()?;
        let mut fields = Fields::new();
        for (name, value) in pairs {
            let value = serde_json::from_str(value.get()).ok()?;
            let mut given = name.clone();
            for number in 2.. {
                if !fields.contains_key(&given) {
                    break;
                }
                given = format!("{name} ({number})");
            }
            fields.insert(given, value);
        }
        Some(fields)
    }
}

/// The fields of an object in their order, also several of one name.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Fields)
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
    fn is_around(self, Pairs(pairs): &Pairs<'_>) -> bool {
        let is_text = |(name, value): &(String, &RawValue)| {
            let is_written = value.get().starts_with('"') && value.get() != "\"\"";
            is_written && self.texts.contains(&name.as_str())
        };
        pairs.iter().any(|(name, value)| self.is_list(name, value)) && !pairs.iter().any(is_text)
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
            && let Ok(fields) = serde_json::from_str::<Pairs<'_>>(raw.get())
            && shape.is_around(&fields)
        {
            for (name, value) in fields.0 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_name_are_all_kept() {
        let shape = Shape { lists: &["results"], texts: &["memory"] };
        let text = r#"{"results": [{"memory": "one", "memory": "two"}], "results": [{"memory": "three"}]}"#;
        let Items { items, left_out } = items(text, shape).expect("it is JSON");
        let fields: Vec<Fields> = items.iter().filter_map(|item| item.fields(text)).collect();
        assert_eq!((fields.len(), left_out.len()), (2, 0));
        assert_eq!(fields[0]["memory"], "one");
        assert_eq!(fields[0]["memory (2)"], "two");
        assert_eq!(fields[1]["memory"], "three");
    }
}
