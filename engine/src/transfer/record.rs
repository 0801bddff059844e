//! What a line of an export holds. The order of the fields is the order in the file.
//!
//! Moments are milliseconds since 1970 (UTC), as the database has them: nothing is rounded, and every moment has one way to be written.

use base64_simd::STANDARD;
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Scope};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt::{self, Formatter};

/// The first line. Nothing in it changes from one export to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// Always `export`.
    pub loci: String,
    pub version: u32,
    /// The model of the vectors, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
}

/// Every other line.
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
    End(End),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupLine {
    pub id: String,
    pub name: String,
    pub created_at: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

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
    pub created_at: i64,
    pub updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantLine {
    pub memory: MemoryId,
    pub created_at: i64,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceLine {
    pub memory: MemoryId,
    pub source: MemoryId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorLine {
    pub memory: MemoryId,
    pub piece: u32,
    /// The numbers, four bytes each, the lowest first.
    pub numbers: Packed,
    /// With the first piece: the codes of all words of the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<Packed>,
}

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
    /// As it stands in the table: JSON in a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TombstoneLine {
    pub id: MemoryId,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterLine {
    pub key: String,
    #[serde(rename = "for")]
    pub purpose: String,
    pub made_at: i64,
}

/// The last line: without it the file was cut off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    /// Lines before this one, the first among them.
    pub lines: usize,
}

/// An alias and the group that it leads to.
pub(crate) type AliasOf = (String, String);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &i64) -> bool {
    *count == 0
}

/// Bytes, in a line as base64; none where a line has something else in their place. They are read where they stand, without a copy of the
/// text: nearly all of a file with vectors is this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packed(pub Option<Vec<u8>>);

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode_to_string(self.0.as_deref().unwrap_or_default()))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Packed;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<Packed, E> {
                Ok(Packed(STANDARD.decode_to_vec(text).ok()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Packed, E> {
                self.visit_bytes(text.as_bytes())
            }
        }
        deserializer.deserialize_bytes(Text)
    }
}
