//! `store_relation`: relates two entities.
//!
//! Request:
//! ```json
//! {"subject_id": "01953a2b-7c1e-7000-8000-0123456789ab", "predicate": "works_at", "object_id": "01953a2b-7c1e-7000-8000-0123456789ac"}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ad", "created": true, "act": 15}
//! ```

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `store_relation`: a subject-predicate-object triple.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelateRequest {
    /// Id of the subject, an active entity.
    pub subject_id: MemoryId,
    /// Like works_at or part_of.
    #[expect(
        clippy::doc_markdown,
        reason = "sent to models as the tool's schema; back ticks would cost tokens"
    )]
    pub predicate: String,
    /// Id of the object, an active entity.
    pub object_id: MemoryId,
    /// Ids of memories that state it.
    #[serde(default)]
    pub evidence: Vec<MemoryId>,
    /// Default 1.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub confidence: Option<Confidence>,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `store_relation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelateReply {
    /// Id of the relation.
    pub id: String,
    /// False if the triple already existed; new evidence and confidence are then added to it.
    pub created: bool,
    /// Number of the journal entry, for `loci undo`; absent if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// A relation of the memory that is shown; the other end is either `object` or `subject`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// For example `works_at`.
    pub predicate: String,
    /// The other end if the memory shown is the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<MemoryPreview>,
    /// The other end if the memory shown is the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<MemoryPreview>,
    /// Id of the relation; only in `memory_inspect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its confidence if below 1; only in `memory_inspect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Memories that state it; only in `memory_inspect`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MemoryId>,
}

/// A memory as its id and first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryPreview {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
}
