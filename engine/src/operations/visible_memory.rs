//! Resolves the visibility of a call, and finds visible memories by id.
//!
//! Not here: the rule itself (`model::visibility`).

use crate::db::{groups, memories};
use crate::error::{Error, Result, not_found};
use crate::model::memory::Memory;
use crate::model::visibility::Visibility;
use loci_proto::error::{Code, Failure};
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
    /// `storage_failed` if it is damaged.
    pub(crate) fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        match memories::by_id(conn, id)? {
            Some(memory) if self.admits(memory.audience()) => Ok(memory),
            Some(_) => Err(not_found(field, id.as_str())),
            None => {
                self.find_even_if_damaged(conn, field, id)?;
                Err(damaged(field, id))
            }
        }
    }

    /// Returns the memory with this id as far as it can be decoded.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) fn find_even_if_damaged(
        &self,
        conn: &Connection,
        field: &str,
        id: &MemoryId,
    ) -> Result<Memory> {
        memories::by_id_even_if_damaged(conn, id)?
            .filter(|memory| self.admits(memory.audience()))
            .ok_or_else(|| not_found(field, id.as_str()))
    }
}

/// Returns the error for the id of a damaged memory.
pub(crate) fn damaged(field: &str, id: &MemoryId) -> Error {
    Failure::new(Code::StorageFailed, format!("names a memory that is damaged on the disk: {id}"))
        .at(field)
        .hint("Run loci doctor. Write its text again (loci edit ID --content TEXT) or delete it (loci forget ID --hard)")
        .into()
}
