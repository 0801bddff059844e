//! `store_relation`: what it takes and what it gives.

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A triple between two entities.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelateRequest {
    /// Entity.
    pub subject_id: MemoryId,
    /// Such as works_at, manages, part_of.
    #[expect(
        clippy::doc_markdown,
        reason = "a model reads this line and every character is paid for"
    )]
    pub predicate: String,
    /// Entity.
    pub object_id: MemoryId,
    /// Memories that say so.
    #[serde(default)]
    pub evidence: Vec<MemoryId>,
    /// Default 1.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// Another project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelateReply {
    /// The relation.
    pub id: String,
    /// False when the triple was known; new evidence and confidence are then added to it.
    pub created: bool,
    /// The number of the act, for `loci undo`; none when nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// A relation as it is shown at one of its ends: `object` there, or `subject`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// For example `works_at`.
    pub predicate: String,
    /// The other end, where the memory shown is the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Neighbour>,
    /// The other end, where the memory shown is the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Neighbour>,
    /// The relation; in `memory_inspect` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How sure it is, where it is not certain; in `memory_inspect` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Memories that say so; in `memory_inspect` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MemoryId>,
}

/// A memory in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Which memory.
    pub id: MemoryId,
    /// Its first line, at most 80 characters.
    pub preview: String,
}
