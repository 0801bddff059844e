//! What one caller can see: global memories and those of its own project, or of the one that the call names.

use crate::db::memories::Memory;
use crate::db::{groups, memories};
use crate::error::{Result, not_found};
use loci_proto::group::{Group, GroupName};
use loci_proto::memory::{MemoryId, Scope};
use rusqlite::Connection;

/// The projects that a call may act in.
#[derive(Debug, Clone)]
pub(crate) struct Visibility {
    own: Group,
    named: Group,
}

impl Visibility {
    /// Of a session of `own` whose call names another project, or none.
    pub(crate) fn new(conn: &Connection, own: &Group, named: Option<&GroupName>) -> Result<Self> {
        let named = match named {
            Some(name) => groups::resolve(conn, name, Some(own))?,
            None => own.clone(),
        };
        Ok(Self { own: own.clone(), named })
    }

    /// Whether a memory can be seen.
    pub(crate) fn admits(&self, memory: &Memory) -> bool {
        let group = memory.group.as_deref().unwrap_or_default();
        memory.scope == Scope::Global || group == self.own.id || group == self.named.id
    }

    /// The memory of an id, whatever its status.
    ///
    /// # Errors
    /// `not_found` when there is none, or none that can be seen: the answer does not tell which.
    pub(crate) fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        memories::by_id(conn, id)?
            .filter(|memory| self.admits(memory))
            .ok_or_else(|| not_found(field, id.as_str()))
    }
}
