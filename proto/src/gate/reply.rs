//! The reply of a tool, of which every string has passed the gate. Pure.
//!
//! What a string is, its key says: a text, a name, or a remark. A key that is not listed is a remark, so a new field is screened until
//! somebody says that it is a text.

use crate::gate::names::{Screen, safe_name};
use crate::gate::{HELD_BACK, ModelText};
use crate::sanitize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The reply of a tool. Only the gate makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply(Value);

/// What a string of a reply is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Stored texts and metadata.
    Text,
    /// Sentences of loci, which may repeat names.
    Note,
    /// The name of a project, a client, a branch.
    Name,
    /// The name of a relation: held back if it is an order.
    Predicate,
    /// Everything else: reasons, names of entities, ids, days.
    Remark,
}

impl Kind {
    /// Returns what a string under a key is, inside of one of a kind.
    fn of(key: &str, outer: Self) -> Self {
        match key {
            // A field of metadata may have any name.
            "group" | "client" | "by" | "branch" | "session" | "via" | "commit"
                if outer == Self::Text =>
            {
                Self::Remark
            }
            "group" | "client" | "by" | "branch" | "session" | "via" | "commit" => Self::Name,
            "predicate" => Self::Predicate,
            "name" | "aliases" | "tags" | "entity_type" | "rejected" | "forgotten_reason"
            | "subject" => Self::Remark,
            "content" | "preview" | "metadata" | "variants" | "questions" => Self::Text,
            "note" | "hint" | "conflict" | "off" | "reason" | "next_step"
                if outer != Self::Text =>
            {
                Self::Note
            }
            _ if outer == Self::Text => Self::Text,
            _ => Self::Remark,
        }
    }

    /// Returns a string as it is shown.
    fn shown(self, given: &str, orders: Screen) -> Cow<'_, str> {
        match self {
            Self::Text => super::exact(given),
            Self::Note => super::note(given, orders),
            Self::Predicate if super::names::is_order(given, orders) => Cow::Borrowed(HELD_BACK),
            Self::Name | Self::Predicate => safe_name(given, orders),
            Self::Remark => super::remark(given, orders),
        }
    }
}

impl ModelReply {
    /// Makes the reply of what a verb answers. A key that would then occur twice gets underscores, so that no value is lost.
    #[must_use]
    pub fn new(mut value: Value, orders: Screen) -> Self {
        each(&mut value, Kind::Remark, orders);
        Self(value)
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, key: &'static str, text: ModelText) -> Self {
        if let Value::Object(fields) = &mut self.0 {
            fields.insert(key.to_owned(), Value::String(text.into()));
        }
        self
    }

    /// Returns how many bytes it has as JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.to_string().len()
    }

    /// Returns the reply as JSON.
    #[must_use]
    pub fn into_json(self) -> Value {
        self.0
    }
}

impl From<ModelReply> for ModelText {
    fn from(reply: ModelReply) -> Self {
        Self::of_gate(reply.0.to_string())
    }
}

fn each(value: &mut Value, kind: Kind, orders: Screen) {
    match value {
        Value::String(given) => {
            let shown = kind.shown(given, orders);
            if *shown != **given {
                *given = shown.into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, kind, orders)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, value)| each(value, Kind::of(key, kind), orders));
            let is_changed = |key: &String| *key_of(key, orders) != **key;
            if fields.keys().any(is_changed) {
                renamed(fields, orders);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a key as it is shown: agents and files choose those of metadata.
fn key_of(key: &str, orders: Screen) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
        return Cow::Borrowed(key);
    }
    match sanitize::text(key) {
        Cow::Borrowed(clean) => super::remark(clean, orders),
        Cow::Owned(clean) => Cow::Owned(super::remark(&clean, orders).into_owned()),
    }
}

fn renamed(fields: &mut Map<String, Value>, orders: Screen) {
    for (key, value) in std::mem::take(fields) {
        let mut clean = key_of(&key, orders).into_owned();
        while fields.contains_key(&clean) {
            clean.push('_');
        }
        fields.insert(clean, value);
    }
}
