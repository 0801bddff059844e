//! Finds texts that look like orders to a model: why they do, as a set of [`Flag`]s.
//!
//! A flag is telemetry, not a defence: a text in plain words passes. The gates that a flag and low
//! trust close are the defence (`model::provenance`). PURE: text in, flags out. `words` splits a
//! text, `phrases` matches the `rules` on words, `markers` finds tags and calls, `encoded` decodes
//! what hides a text. Not here: the gates, and texts of persons, which are never flagged.

mod encoded;
mod markers;
mod phrases;
mod rules;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Map, Value};

/// Why a text looks like an order to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Tells the model to ignore its instructions.
    Override,
    /// Addresses the model, or orders what it says.
    Order,
    /// An order for all later answers.
    LastingOrder,
    /// Hides something from the user.
    Secrecy,
    /// Claims that the user has permitted something.
    Permission,
    /// Gives the model another role.
    Persona,
    /// Claims to be a note of the system.
    SystemNote,
    /// Looks like a turn or a tag of a conversation.
    RoleMarker,
    /// Looks like a call of a tool.
    ToolCall,
    /// Sends private data to an address.
    Exfiltration,
    /// Waits for a later occasion.
    Trigger,
    /// Contains encoded text.
    Encoded,
    /// Contained characters that hide text.
    Hidden,
    /// Disagrees with a more trusted memory.
    Conflict,
}

impl Flag {
    const ALL: [Self; 14] = [
        Self::Override,
        Self::Order,
        Self::LastingOrder,
        Self::Secrecy,
        Self::Permission,
        Self::Persona,
        Self::SystemNote,
        Self::RoleMarker,
        Self::ToolCall,
        Self::Exfiltration,
        Self::Trigger,
        Self::Encoded,
        Self::Hidden,
        Self::Conflict,
    ];

    /// Returns the name in replies, exports and the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Order => "order",
            Self::LastingOrder => "lasting-order",
            Self::Secrecy => "secrecy",
            Self::Permission => "permission",
            Self::Persona => "persona",
            Self::SystemNote => "system-note",
            Self::RoleMarker => "role-marker",
            Self::ToolCall => "tool-call",
            Self::Exfiltration => "exfiltration",
            Self::Trigger => "trigger",
            Self::Encoded => "encoded",
            Self::Hidden => "hidden",
            Self::Conflict => "conflict",
        }
    }
}

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Adds a flag.
    pub fn insert(&mut self, flag: Flag) {
        self.0 |= 1 << flag as u16;
    }

    /// Adds the flags of another set.
    pub fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Returns true if there is no flag.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the set has the flag.
    #[must_use]
    pub fn contains(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u16) != 0
    }

    /// Returns the names of the flags.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        let set = Flag::ALL.into_iter().filter(|flag| self.contains(*flag));
        set.map(|flag| flag.as_str().to_owned()).collect()
    }

    /// Returns the flags with these names; unknown names are left out.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut flags = Self::default();
        for name in names {
            Flag::ALL.into_iter().filter(|f| f.as_str() == name).for_each(|f| flags.insert(f));
        }
        flags
    }
}

/// Returns the flags of a text and of all texts in its metadata.
#[must_use]
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
#[must_use]
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

fn of_words_and_markers(text: &str, flags: &mut Flags) {
    let plain = words::split(text);
    phrases::find(&plain, flags);
    if let Some(unmasked) = words::unmasked(&plain) {
        phrases::find(&unmasked, flags);
    }
    markers::find(text, &plain, flags);
}

/// Adds a flag if characters that hide text were removed, by the list of what was removed.
pub fn of_removed(removed: &[String], flags: &mut Flags) {
    let hides_text = |kind: &String| kind.starts_with("bidi") || kind.starts_with("tag");
    if removed.iter().any(hides_text) {
        flags.insert(Flag::Hidden);
    }
}
