//! Resolves the project that a call names and the visibility of a call, and finds visible memories
//! by id.
//!
//! Not here: the rule itself (`model::visibility`).

use crate::db::{groups, memories};
use crate::error::{Error, Result, not_found};
use crate::handles::shared::Shared;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::visibility::{Isolation, Visibility};
use loci_proto::error::{Code, Failure};
use loci_proto::group::{Group, GroupName, check_name};
use loci_proto::memory::MemoryId;
use loci_proto::off::OffReason;
use rusqlite::Connection;

/// Returns the project that a call names; the viewer's own if it names none.
///
/// # Errors
/// As [`groups::resolve`] and [`groups::resolve_for_person`]; `not_found` for an isolated project that is not the viewer's own;
/// `conflict` if the viewer's own is isolated and the call names another. A person may name every
/// project.
pub(crate) fn named_group(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: Option<&GroupName>,
) -> Result<Group> {
    let Some(name) = name else { return Ok(viewer.group.clone()) };
    let group = match groups::find(conn, name, Some(viewer.group))? {
        Some(group) => group,
        None if viewer.is_person() => groups::resolve_for_person(conn, name)?,
        None => groups::resolve(conn, name, Some(viewer.group))?,
    };
    if isolation.may_be_named(viewer, Some(&group.id)) {
        return Ok(group);
    }
    if isolation.is_isolated(&group.id) {
        let message = format!("names no project that this session can see: {}", name.as_str());
        let failure = Failure::new(Code::NotFound, message).at("group");
        return Err(failure.hint("Leave out group").into());
    }
    if isolation.is_off(&group.id) {
        return Err(OffReason::Person.failure(&group.name).at("group").into());
    }
    let message = format!("names another project, but {} is isolated", viewer.group.name);
    Err(Failure::new(Code::Conflict, message)
        .at("group")
        .hint("Leave out group: an isolated project sees only its own memories")
        .into())
}

/// Like [`named_group`], for a call that only reads. Refuses a name without a project to a person,
/// and suggests similar names.
///
/// # Errors
/// As [`named_group`]; `not_found` at `group`.
pub(crate) fn existing_group(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: Option<&GroupName>,
) -> Result<Group> {
    if let Some(name) = name.filter(|_| viewer.is_person())
        && check_name(name.as_str()).is_ok()
        && groups::find(conn, name, Some(viewer.group))?.is_none()
    {
        let known = groups::names_and_aliases(conn)?;
        if !known.iter().any(|known| known == name.as_str()) {
            return Err(unknown_group("group", name.as_str(), &known).into());
        }
    }
    named_group(conn, isolation, viewer, name)
}

/// Returns the error for the name of no project, with at most three names that are near.
pub(crate) fn unknown_group(field: &str, name: &str, known: &[String]) -> Failure {
    let near = similar_names(name, known);
    let hint = match near.as_slice() {
        [] => "`loci groups list` shows all projects".to_owned(),
        near => {
            format!("Did you mean {}? `loci groups list` shows all projects", near.join(" or "))
        }
    };
    let message = format!("names no project: {name}");
    Failure::new(Code::NotFound, message).at(field).hint(hint)
}

/// Returns the names that contain the typed one or are spelled like it, nearest first.
fn similar_names(typed: &str, known: &[String]) -> Vec<String> {
    let typed = typed.to_lowercase();
    let mut near: Vec<(usize, &String)> = Vec::new();
    for name in known {
        let folded = name.to_lowercase();
        let distance = strsim::damerau_levenshtein(&folded, &typed);
        let is_part = typed.chars().count() >= 3 && folded.contains(&typed);
        if is_part || distance <= 1 + typed.chars().count() / 4 {
            near.push((if is_part { 0 } else { distance }, name));
        }
    }
    near.sort();
    near.dedup_by(|a, b| a.1 == b.1);
    near.into_iter().take(3).map(|(_, name)| name.clone()).collect()
}

impl Visibility {
    /// Returns the visibility of a call, which may name another group.
    ///
    /// # Errors
    /// As [`named_group`].
    pub(crate) fn new(
        shared: &Shared,
        conn: &Connection,
        viewer: Viewer<'_>,
        named: Option<&GroupName>,
    ) -> Result<Self> {
        let isolation = shared.isolation();
        let group = named_group(conn, &isolation, viewer, named)?;
        Ok(Self::of_groups(&viewer.group.id, &group.id, isolation))
    }

    /// Returns the visibility of a call that only reads, and may name another group.
    ///
    /// # Errors
    /// As [`existing_group`].
    pub(crate) fn for_reading(
        shared: &Shared,
        conn: &Connection,
        viewer: Viewer<'_>,
        named: Option<&GroupName>,
    ) -> Result<Self> {
        let isolation = shared.isolation();
        let group = existing_group(conn, &isolation, viewer, named)?;
        Ok(Self::of_groups(&viewer.group.id, &group.id, isolation))
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

    /// Like [`Visibility::find`], for a memory that the call changes.
    ///
    /// # Errors
    /// Also `conflict` if the call may see the memory but not change it.
    pub(crate) fn find_to_change(
        &self,
        conn: &Connection,
        field: &str,
        id: &MemoryId,
    ) -> Result<Memory> {
        let memory = self.find(conn, field, id)?;
        self.check_change(field, &memory)?;
        Ok(memory)
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

    /// Refuses a change of a memory of another group by a call of an isolated one: others would see
    /// the change.
    ///
    /// # Errors
    /// `conflict`.
    pub(crate) fn check_change(&self, field: &str, memory: &Memory) -> Result<()> {
        let is_own = |group: &String| memory.group.as_ref() == Some(group);
        if !self.is_isolated() || self.groups().iter().any(is_own) {
            return Ok(());
        }
        let message =
            format!("names a memory that this isolated project did not store: {}", memory.id);
        Err(Failure::new(Code::Conflict, message)
            .at(field)
            .hint("Change it outside the project, or store a memory of this project")
            .into())
    }
}

/// Returns the error for the id of a damaged memory.
pub(crate) fn damaged(field: &str, id: &MemoryId) -> Error {
    Failure::new(Code::StorageFailed, format!("names a memory that is damaged on the disk: {id}"))
        .at(field)
        .hint("Run loci doctor. Write its text again (loci edit ID --content TEXT) or delete it (loci forget ID --hard)")
        .into()
}
