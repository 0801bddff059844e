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
pub struct Memory {
    /// The sequence number: the rowid, in order of storing.
    pub seq: i64,
    /// The id that callers use.
    pub id: MemoryId,
    /// Its kind.
    pub kind: MemoryType,
    /// The text.
    pub content: String,
    /// The project that stored it; `None` for no project.
    pub group: Option<String>,
    /// The scope in force: a gated memory is not global.
    pub scope: Scope,
    /// Whether it is in use.
    pub status: Status,
    /// What its confidence ages from.
    pub anchor: Anchor,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it is no longer found.
    pub expires_at: Option<Timestamp>,
    /// The id of the memory that replaced it.
    pub superseded_by: Option<String>,
    /// All other fields of the store request.
    pub metadata: Map<String, Value>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Why it was forgotten.
    pub forgotten_reason: Option<String>,
    /// How often it was delivered.
    pub access_count: i64,
    /// When it was last delivered.
    pub last_accessed: Option<Timestamp>,
    /// Where it came from.
    pub provenance: Provenance,
}

impl Memory {
    /// Returns what tells this text, type and scope from others of the same memory, in 16 hexadecimal digits.
    pub fn version(&self) -> String {
        let said = format!("{}\n{}\n{}", self.kind.as_str(), self.scope.as_str(), self.content);
        blake3::hash(said.as_bytes()).to_hex()[..16].to_owned()
    }

    /// Returns who can see the memory.
    pub fn audience(&self) -> Audience<'_> {
        Audience::new(self.scope, self.group.as_deref())
    }
}
