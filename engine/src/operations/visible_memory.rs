//! The visibility of a call, and visible memories by their ids.
//!
//! Not here: the rule itself (`model::visibility`), which project a call names (`named_project`).

use crate::db::{log, memories};
use crate::error::{Error, Result, not_found};
use crate::handles::shared::Shared;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::operations::named_project::existing_group;
use crate::transaction::change::Change;
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::memory::{MemoryId, Origin, Scope, Trust};
use rusqlite::Connection;

/// The visibility of a call, and the memories that it may see or change.
pub(crate) trait FindVisible: Sized {
    /// Returns the visibility of a call, which may name another group.
    ///
    /// # Errors
    /// As [`existing_group`].
    fn new(
        shared: &Shared,
        conn: &Connection,
        viewer: Viewer<'_>,
        named: Option<&GroupName>,
    ) -> Result<Self>;

    /// Returns the memory with this id, whatever its status.
    ///
    /// # Errors
    /// `not_found` if it does not exist or is not visible; the error is the same for both.
    /// `storage_failed` if it is damaged.
    fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory>;

    /// Like [`Visibility::find`], for a memory that the call changes.
    ///
    /// # Errors
    /// Also `conflict` if the call may see the memory but not change it.
    fn find_to_change(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory>;

    /// Returns the memory with this id as far as it can be decoded.
    ///
    /// # Errors
    /// `not_found`.
    fn find_even_if_damaged(&self, conn: &Connection, field: &str, id: &MemoryId)
    -> Result<Memory>;

    /// Refuses a change that others would see: of a memory of another group by a call of an isolated one, and of a global one by a token
    /// that is bound to a project.
    ///
    /// # Errors
    /// `conflict`.
    fn check_change(&self, field: &str, memory: &Memory) -> Result<()>;
}

impl FindVisible for Visibility {
    fn new(
        shared: &Shared,
        conn: &Connection,
        viewer: Viewer<'_>,
        named: Option<&GroupName>,
    ) -> Result<Self> {
        let isolation = shared.isolation_for(viewer);
        let group = existing_group(conn, &isolation, viewer, named)?;
        Ok(Self::of_groups(&viewer.group.id, &group.id, isolation))
    }

    fn find(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        match memories::by_id(conn, id)? {
            Some(memory) if self.admits(memory.audience()) => Ok(memory),
            Some(_) => Err(not_found(field, id.as_str())),
            None => {
                self.find_even_if_damaged(conn, field, id)?;
                Err(damaged(field, id))
            }
        }
    }

    fn find_to_change(&self, conn: &Connection, field: &str, id: &MemoryId) -> Result<Memory> {
        let memory = self.find(conn, field, id)?;
        self.check_change(field, &memory)?;
        Ok(memory)
    }

    fn find_even_if_damaged(
        &self,
        conn: &Connection,
        field: &str,
        id: &MemoryId,
    ) -> Result<Memory> {
        memories::by_id_even_if_damaged(conn, id)?
            .filter(|memory| self.admits(memory.audience()))
            .ok_or_else(|| not_found(field, id.as_str()))
    }

    fn check_change(&self, field: &str, memory: &Memory) -> Result<()> {
        if self.is_bound() && memory.scope == Scope::Global {
            let message = format!(
                "names a memory that every project sees, and this token may use one: {}",
                memory.id
            );
            let failure = Failure::new(Code::Conflict, message).at(field);
            return Err(failure.hint("Use a token that is not bound to a project").into());
        }
        let is_own = |group: &String| memory.group.as_ref() == Some(group);
        if !self.is_isolated() || self.groups().iter().any(is_own) {
            return Ok(());
        }
        let message = format!(
            "names a memory that another project stored, which this one may not change: {}",
            memory.id
        );
        Err(Failure::new(Code::Conflict, message)
            .at(field)
            .hint("Change it outside the project, or store a memory of this project")
            .into())
    }
}

/// Refuses to an agent or a script to change what a person stored or confirmed, or a status that a person has set; `verb` is the
/// command of the person.
///
/// # Errors
/// `conflict`, `Database`.
pub(crate) fn check_may_change(
    change: &Change<'_>,
    field: &str,
    memory: &Memory,
    verb: &str,
) -> Result<()> {
    let Memory { id, provenance, .. } = memory;
    if change.call.actor.origin == Origin::Person {
        return Ok(());
    }
    let is_aside = memory.status != Status::Active;
    let message = if is_aside && log::is_status_of_person(change.conn, id.as_str())? {
        format!("names a memory that a person has set aside: {id}")
    } else if provenance.trust == Trust::Person {
        format!("names a memory that a person stored or confirmed: {id}")
    } else {
        return Ok(());
    };
    Err(Failure::only_person(message, &format!("loci {verb} {id}")).at(field).into())
}

/// Returns the error for the id of a damaged memory.
pub(crate) fn damaged(field: &str, id: &MemoryId) -> Error {
    Failure::new(Code::StorageFailed, format!("names a memory that is damaged on the disk: {id}"))
        .at(field)
        .hint("Run loci doctor. Write its text again (loci edit ID --content TEXT) or delete it (loci forget ID --hard)")
        .into()
}
