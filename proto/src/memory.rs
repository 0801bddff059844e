//! The basic types: memory type, scope, id, confidence. Each can only hold a valid value.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Declares an enum that is a string on the wire; parsing refuses any other string and suggests the most similar one.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $string:literal),+ $(,)? } $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// All variants, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the string on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $string),+ }
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                if let Some(variant) = Self::ALL.iter().find(|v| v.as_str() == text) {
                    return Ok(*variant);
                }
                let folded = text.trim().to_ascii_lowercase();
                let similar = Self::ALL.iter().find(|v| strsim::damerau_levenshtein(v.as_str(), &folded) <= 2);
                Err(match similar {
                    Some(similar) => format!(concat!("must be ", $expected, "; did you mean {}?"), similar.as_str()),
                    None => concat!("must be ", $expected).to_owned(),
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(self.as_str()) }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                match serde_json::Value::deserialize(d)? {
                    serde_json::Value::String(text) => text.parse().map_err(D::Error::custom),
                    _ => Err(D::Error::custom(concat!("must be ", $expected))),
                }
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut SchemaGenerator) -> Schema { json_schema!({"type": "string", "enum": [$($string),+]}) }
        }
    };
}

pub(crate) use string_enum;

string_enum! {
    /// The type of a memory; determines the default scope, the decay of its confidence, and whether maintenance compacts or promotes it.
    MemoryType {
        /// An event: a session, a decision.
        Episodic = "episodic",
        /// A fact or a preference.
        Semantic = "semantic",
        /// A workflow: a sequence of steps.
        Procedural = "procedural",
        /// A person, a project, a system.
        Entity = "entity",
    } "episodic, semantic, procedural or entity"
}

string_enum! {
    /// What a memory is, as declared by who stored it; kept as `category` in the metadata. Decides what a brief holds.
    Category {
        /// How to work: a standing order or correction.
        Rule = "rule",
        /// What somebody likes.
        Preference = "preference",
        /// What was decided, with the reason.
        Decision = "decision",
        /// Steps to do something, or a checklist.
        Procedure = "procedure",
        /// The cause of an error, and what mends it.
        Fix = "fix",
        /// What is so.
        Fact = "fact",
        /// What is open, and what comes next.
        State = "state",
        /// What happened.
        Event = "event",
    } "rule, preference, decision, procedure, fix, fact, state or event"
}

string_enum! {
    /// What a person says of a memory in texts that nobody asked for: briefs and hooks.
    Unasked {
        /// Never in them.
        Never = "never",
        /// First in every brief.
        Always = "always",
        /// As its category and use decide.
        Auto = "auto",
    } "never, always or auto"
}

string_enum! {
    /// What a query is besides a question or keywords.
    QueryKind {
        /// An error message.
        Error = "error",
    } "error"
}

string_enum! {
    /// A status that a search may ask for.
    SoughtStatus {
        /// Memories that no person has confirmed.
        Candidate = "candidate",
        /// Attempts that were given up.
        Rejected = "rejected",
    } "candidate or rejected"
}

string_enum! {
    /// Which sessions can see a memory.
    Scope {
        /// Sessions of all projects.
        Global = "global",
        /// Sessions of the group (project) that it was stored in.
        Group = "group",
    } "global or group"
}

string_enum! {
    /// Who stored a memory. The daemon sets it; no argument and no line of an import does.
    Origin {
        /// An agent, over its own socket, or with the command line inside its session.
        Agent = "agent",
        /// Reserved: a session whose hello says that it is a hook.
        Hook = "hook",
        /// An import.
        Import = "import",
        /// A person, with the command line.
        Person = "person",
        /// Compaction or promotion.
        Maintenance = "maintenance",
    } "agent, hook, import, person or maintenance"
}

string_enum! {
    /// How far a memory is trusted, lowest first. Only a person raises it.
    Trust {
        /// It came with an import.
        Import = "import",
        /// An agent stored it, or an earlier version that recorded no trust.
        Agent = "agent",
        /// A person stored or confirmed it.
        Person = "person",
    } "import, agent or person"
}

impl Default for Trust {
    /// The trust of what an earlier version stored.
    fn default() -> Self {
        Self::Agent
    }
}

/// Who stored a memory, and how far it is trusted, as replies show it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Who stored it; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Name of the client that stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Session in which it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How far it is trusted.
    #[serde(default)]
    pub trust: Trust,
    /// Why it is held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The branch that was checked out when it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that was checked out when it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Origin {
    /// Returns the trust of what a caller of this origin stores.
    #[must_use]
    pub fn trust(self) -> Trust {
        match self {
            Self::Import => Trust::Import,
            Self::Agent | Self::Hook | Self::Maintenance => Trust::Agent,
            Self::Person => Trust::Person,
        }
    }
}

impl MemoryType {
    /// Returns the scope of a memory that is stored without one: events belong to their project, everything else to the user.
    #[must_use]
    pub fn default_scope(self) -> Scope {
        match self {
            Self::Episodic => Scope::Group,
            Self::Semantic | Self::Procedural | Self::Entity => Scope::Global,
        }
    }
}

/// The id of a memory: a UUID in hyphenated lower-case form (version 7 for memories created by loci).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct MemoryId(String);

impl MemoryId {
    /// Number of characters of an id.
    const CHARS: usize = 36;
    /// Minimum number of characters of a part of an id.
    const MIN_PART_CHARS: usize = 4;

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a text may be the beginning or the end of an id.
    #[must_use]
    pub fn is_part(text: &str) -> bool {
        (Self::MIN_PART_CHARS..Self::CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    }
}

impl From<uuid::Uuid> for MemoryId {
    fn from(id: uuid::Uuid) -> Self {
        Self(id.hyphenated().to_string())
    }
}

impl FromStr for MemoryId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match uuid::Uuid::try_parse(text) {
            Ok(id) if text.len() == Self::CHARS => Ok(id.into()),
            _ => Err("is not a memory id; ids look like 01953a2b-7c1e-7000-8000-0123456789ab and come from recall_memory".to_owned()),
        }
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for MemoryId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(text) => text.parse().map_err(D::Error::custom),
            _ => Err(D::Error::custom("must be a string")),
        }
    }
}

impl JsonSchema for MemoryId {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "MemoryId".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

/// The confidence of a memory: a number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Full confidence.
    pub const FULL: Self = Self(1.0);

    /// Wraps a number from 0 to 1.
    ///
    /// # Errors
    /// A sentence that names the range, for any other number and NaN.
    pub fn new(value: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err("must be a number from 0 to 1".to_owned())
        }
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns the confidence as it is written: with 4 decimals, since further digits are not significant.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self((self.0 * 1e4).round() / 1e4)
    }

    /// Returns the confidence increased by `by`, at most 1.
    #[must_use]
    pub fn boosted(self, by: f64) -> Self {
        Self((self.0 + by).clamp(0.0, 1.0))
    }
}

impl Serialize for Confidence {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.rounded().0)
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(d)?;
        Self::new(value.as_f64().unwrap_or(f64::NAN)).map_err(D::Error::custom)
    }
}

impl JsonSchema for Confidence {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Confidence".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 1})
    }
}
