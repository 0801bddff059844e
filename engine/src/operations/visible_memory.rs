//! Resolves the visibility of a call, and finds visible memories by id.
//!
//! Not here: the rule itself (`model::visibility`).

use crate::db::{groups, memories};
use crate::error::{Result, not_found};
use crate::model::memory::Memory;
use crate::model::visibility::Visibility;
use loci_proto::group::{Group, GroupName};
use loci_proto::memory::MemoryId;
use rusqlite::Connection;

impl Visibility {
    /// Returns the visibility of a call in a session of `own`, which may name another group.
    ///
    /// # Errors
    /// As [`groups::resolve`].
    pub(crate) fn new(conn: &Connection, own: &Group, named: Option<&GroupName>) -> Result<Self> {
        Ok(match named {
            Some(name) => Self::of_groups(&own.id, &groups::resolve(conn, name, Some(own))?.id),
            None => Self::of_group(&own.id),
        })
    }

    /// Returns the memory with this id, whatever its status.
    ///
    /// # Errors
    /// `not_found` if it does not exist or is not visible; the error is the same for both.
    pub(crate) fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        memories::by_id(conn, id)?
            .filter(|memory| self.admits(memory.audience()))
            .ok_or_else(|| not_found(field, id.as_str()))
    }
}
