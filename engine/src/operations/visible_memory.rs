//! Resolves what a call can see, and finds memories by id within it.
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
    /// Returns the visibility of a session of `own` whose call names another group, or none.
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
    /// `not_found` if there is none, or none that is visible: the error does not tell which.
    pub(crate) fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        memories::by_id(conn, id)?
            .filter(|memory| self.admits(memory.audience()))
            .ok_or_else(|| not_found(field, id.as_str()))
    }
}
