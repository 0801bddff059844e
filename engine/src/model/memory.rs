//! A memory as stored in the database. Not here: reading the row (`db::memories`).

use crate::model::decay::Anchor;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Audience;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use serde_json::{Map, Value};

/// One row of `memories`.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub seq: i64,
    pub id: MemoryId,
    pub kind: MemoryType,
    pub content: String,
    pub group: Option<String>,
    /// The scope in force: a gated memory is not global.
    pub scope: Scope,
    pub status: Status,
    pub anchor: Anchor,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub superseded_by: Option<String>,
    pub metadata: Map<String, Value>,
    pub updated_at: Timestamp,
    pub forgotten_reason: Option<String>,
    pub access_count: i64,
    pub last_accessed: Option<Timestamp>,
    pub provenance: Provenance,
}

impl Memory {
    /// Returns who can see the memory.
    pub(crate) fn audience(&self) -> Audience<'_> {
        Audience::new(self.scope, self.group.as_deref())
    }
}
