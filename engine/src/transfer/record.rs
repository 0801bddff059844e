//! The lines of an export. The order of the fields is the order in the file.
//!
//! Times are milliseconds since 1970 (UTC), as in the database: nothing is rounded, and each time
//! has one representation.

use crate::flags;
use crate::flags::Flags;
use crate::model::event_date;
use crate::model::importance::Importance;
use base64_simd::STANDARD;
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Origin, Scope, Trust};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::{self, Formatter};

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// `export` or `dump`.
    pub loci: String,
    pub version: u32,
    /// The model of the vectors, if the export has vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
}

/// Any line after the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Record {
    Group(GroupLine),
    Memory(Box<MemoryLine>),
    Variant(VariantLine),
    Source(SourceLine),
    Vector(VectorLine),
    Relation(RelationLine),
    Log(LogLine),
    Tombstone(TombstoneLine),
    Cluster(ClusterLine),
    End(EndLine),
}

/// A group with its aliases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupLine {
    pub id: String,
    pub name: String,
    pub created_at: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryLine {
    pub id: MemoryId,
    #[serde(rename = "type")]
    pub kind: MemoryType,
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub status: String,
    pub status_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_reason: Option<String>,
    pub confidence: Confidence,
    pub confidence_at: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub access_count: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boosted_at: Option<i64>,
    /// 0.7 to 1.5; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    pub created_at: i64,
    pub updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Who stored it. Of a file this is a claim: the import sets `import`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Of a file this is a claim: the import sets `import`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// Of a file these are kept, and those of the text are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub echo: bool,
    /// The branch that was checked out when it was stored. Of a file this is a claim, which is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The day of its event as its text names it. An import finds it in the text again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "ignored")]
    pub event_date_derived: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    pub content: String,
}

/// Accepts a text and drops it.
fn ignored<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(value).map(|_| None)
}

impl MemoryLine {
    /// Adds what an export says about a memory and an import does not read.
    pub(crate) fn with_derived(self) -> Self {
        Self { event_date_derived: event_date::derived(&self.content, &self.metadata), ..self }
    }

    /// Sets the provenance of a text that this import brings: trust `import`, whatever the line
    /// says, and the flags of the text in addition to those of the line.
    pub(crate) fn set_imported(&mut self) {
        self.origin = Some(Origin::Import.as_str().to_owned());
        self.trust = Some(Trust::Import.as_str().to_owned());
        self.add_flags(flags::of_outside(&self.content, &self.metadata), &self.flags.clone());
    }

    fn add_flags(&mut self, mut own: Flags, of_line: &[String]) {
        own.merge(Flags::of_names(of_line.iter().map(String::as_str)));
        self.flags = own.names();
    }

    /// Sets the trust that the line of the person's own file claims, and who stored it: that of a person only if the text is not
    /// flagged.
    pub(crate) fn believe(&mut self, claimed: &Self) {
        // The person's own file is nothing from outside.
        self.add_flags(flags::of_memory(&self.content, &self.metadata), &claimed.flags);
        let is_believed = match claimed.trust.as_deref() {
            Some(trust) if trust == Trust::Person.as_str() => self.flags.is_empty(),
            Some(trust) => [Trust::Agent, Trust::Import].map(Trust::as_str).contains(&trust),
            None => false,
        };
        if is_believed {
            let is_known = |origin: &String| origin.parse::<Origin>().is_ok();
            self.trust.clone_from(&claimed.trust);
            self.origin = claimed.origin.clone().filter(is_known).or(self.origin.take());
            self.client.clone_from(&claimed.client);
            self.session.clone_from(&claimed.session);
            self.echo = claimed.echo;
        }
    }

    /// Ranks the provenances of one text: the higher is in force when a person's stores are merged, whichever imports the other.
    pub(crate) fn provenance_rank(&self) -> impl PartialOrd + use<> {
        let trust = match self.trust.as_deref() {
            Some(trust) if trust == Trust::Person.as_str() => 2,
            Some(trust) if trust == Trust::Agent.as_str() => 1,
            _ => 0,
        };
        let is_stored = self.origin.as_deref() != Some(Origin::Import.as_str());
        let source = (self.origin.clone(), self.client.clone(), self.session.clone());
        (trust, is_stored, source, self.echo)
    }

    /// Returns whether the line has a trust that is known.
    pub(crate) fn has_trust(&self) -> bool {
        let known = [Trust::Import, Trust::Agent, Trust::Person].map(Trust::as_str);
        self.trust.as_deref().is_some_and(|trust| known.contains(&trust))
    }

    /// Sets the provenance to that of another version.
    pub(crate) fn set_provenance_of(&mut self, other: &Self) {
        let Self { origin, client, session, trust, flags, echo, .. } = other.clone();
        *self = Self { origin, client, session, trust, flags, echo, ..self.clone() };
    }
}

/// Another wording of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantLine {
    pub memory: MemoryId,
    pub created_at: i64,
    pub content: String,
}

/// A source: a memory that another one was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceLine {
    pub memory: MemoryId,
    pub source: MemoryId,
}

/// The vector of one chunk of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorLine {
    pub memory: MemoryId,
    /// The number of the chunk, from 0.
    #[serde(rename = "piece")]
    pub chunk: u32,
    /// The vector: 4-byte floats, little-endian.
    pub numbers: Base64Bytes,
    /// With chunk 0: the sign codes of all words of the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<Base64Bytes>,
}

/// A relation of two entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelationLine {
    pub id: String,
    pub subject: MemoryId,
    pub predicate: String,
    pub object: MemoryId,
    pub confidence: Confidence,
    pub created_at: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MemoryId>,
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogLine {
    pub operation: String,
    pub memory: String,
    pub at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// JSON in a string, as in the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// A hard-deleted memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TombstoneLine {
    pub id: MemoryId,
    pub created_at: i64,
}

/// A cluster that maintenance has processed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterLine {
    pub key: String,
    #[serde(rename = "for")]
    pub purpose: String,
    pub made_at: i64,
}

/// The last line. A file without it is truncated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine {
    /// The number of lines before this one, including the header. 0 in a dump, which git may merge.
    #[serde(default)]
    pub lines: usize,
    /// The number of damaged rows that were left out.
    #[serde(default, skip_serializing_if = "is_none_left_out")]
    pub left_out: usize,
}

/// Returns an id as a number, which needs less memory than its text.
pub(crate) fn id_number(id: &MemoryId) -> u128 {
    uuid::Uuid::try_parse(id.as_str()).map_or(0, |id| id.as_u128())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_left_out(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &i64) -> bool {
    *count == 0
}

/// Bytes that are base64 in the file; `None` if the text is not base64. Decoded without a copy of
/// the text, since most of a file with vectors is such text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base64Bytes(pub Option<Vec<u8>>);

impl Serialize for Base64Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode_to_string(self.0.as_deref().unwrap_or_default()))
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Base64Visitor;
        impl Visitor<'_> for Base64Visitor {
            type Value = Base64Bytes;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<Base64Bytes, E> {
                Ok(Base64Bytes(STANDARD.decode_to_vec(text).ok()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Base64Bytes, E> {
                self.visit_bytes(text.as_bytes())
            }
        }
        deserializer.deserialize_bytes(Base64Visitor)
    }
}
