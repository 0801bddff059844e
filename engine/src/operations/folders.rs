//! Recognises the folder of a project that was renamed or moved, and leads its sessions to the memories of the project.
//!
//! A folder is the same if device, inode and time of creation are: no archive, clone or name can forge them. Such a folder gets an alias
//! of its project, which is one act that `undo` takes back; no memory is moved. A folder that is only alike (a copy, or the same name) is
//! suggested to a person and never healed. Not here: reading a folder (the shim), when a session is recognised (the daemon).

use crate::db::folders::{self, FolderRow};
use crate::db::rows::Row;
use crate::db::{groups, health, import_rows};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::transaction::change::CallContext;
use loci_proto::group::Group;
use loci_proto::hello::Root;
use rusqlite::Connection;
use std::path::PathBuf;

/// The act of an alias that a moved folder got.
pub(crate) const HEAL: &str = "groups heal";

/// The folder of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFolder {
    /// The group that the path makes.
    pub group: Group,
    /// The path.
    pub path: String,
    /// The name in `.loci.toml`.
    pub part: Option<String>,
    /// What the folder is, whatever its path.
    pub identity: Option<String>,
    /// What a copy of the repository shares with it.
    pub trace: Option<String>,
    /// The top folder of the project, if it is the same in every session of it.
    pub root: Option<Root>,
    /// Where the repository was cloned from, as a hash.
    pub remote: Option<String>,
    /// Its files isolate it.
    pub is_isolated: bool,
}

/// What the store knows of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderState {
    /// The project of the path, as it was last seen.
    Known,
    /// The project of the path, of which the store does not know the folder as it is now.
    Unrecorded,
    /// The folder of a project, at a path that the store does not know.
    Moved,
    /// Another folder than that of the path's project: the sessions of this one work in this group.
    Other(Group),
    /// No project yet.
    New,
}

impl Reader {
    /// Returns what the store knows of a folder.
    ///
    /// # Errors
    /// `Database`.
    pub fn folder_state(&self, seen: &SeenFolder) -> Result<FolderState> {
        state(&self.conn, &self.shared, seen)
    }
}

impl Writer {
    /// Records the folder of a project as it is now. Not an act: nothing is to be undone.
    ///
    /// # Errors
    /// `Database`.
    pub fn record_folder(&mut self, call: &CallContext, seen: &SeenFolder) -> Result<()> {
        self.run_idempotent(call, |change| {
            if state(change.conn, change.shared, seen)? == FolderState::Unrecorded {
                let known = folders::by_id(change.conn, &seen.group.id)?;
                folders::put(change.conn, &seen.row_after(known.as_ref()), call.now)?;
            }
            Ok(())
        })
    }

    /// Leads the sessions of a moved folder to its project. Returns the project; `None` if the folder is not known by another path.
    ///
    /// # Errors
    /// `Database`.
    pub fn heal_folder(&mut self, call: &CallContext, seen: &SeenFolder) -> Result<Option<Group>> {
        self.run_idempotent(call, |change| {
            if state(change.conn, change.shared, seen)? != FolderState::Moved {
                return Ok(None);
            }
            let Some(group) = group_of_moved(change.conn, change.shared, seen)? else {
                return Ok(None);
            };
            import_rows::add_alias(change.conn, &seen.group.id, &group.id)?;
            change.record_created(Row::Alias(seen.group.id.clone()));
            // Stays after an undo, so that the folder is not healed again.
            folders::put(change.conn, &seen.row(), call.now)?;
            change.commit_to_journal(HEAL)?;
            Ok(Some(group))
        })
    }
}

/// Key in `meta`: the names that project files had before a person had to allow them were taken over.
const NAMES_KNOWN: &str = "project_names_known";

impl Writer {
    /// Returns once for a store the folders whose file has named the project so far, with the name.
    ///
    /// # Errors
    /// `Database`.
    pub fn take_named_folders(&self) -> Result<Vec<(PathBuf, String)>> {
        if health::meta(&self.conn, NAMES_KNOWN)?.is_some() {
            return Ok(Vec::new());
        }
        health::set_meta(&self.conn, NAMES_KNOWN, "1")?;
        let rows = folders::all(&self.conn)?.into_iter();
        Ok(rows.filter_map(|row| Some((row.root?.into(), row.part?))).collect())
    }
}

impl SeenFolder {
    pub(crate) fn row(&self) -> FolderRow {
        let Self { group, path, part, identity, trace, root, remote, .. } = self.clone();
        let (root, root_identity) = root.map(|root| (root.path, root.identity)).unzip();
        let root_identity = root_identity.flatten();
        FolderRow { id: group.id, path, part, identity, trace, root, root_identity, remote }
    }

    /// Returns the row, with the root of the known one where this session does not know it: a worktree is elsewhere.
    fn row_after(&self, known: Option<&FolderRow>) -> FolderRow {
        let mut row = self.row();
        if let (None, Some(known)) = (&row.root, known) {
            row.root.clone_from(&known.root);
            row.root_identity.clone_from(&known.root_identity);
        }
        row
    }

    /// Returns whether this may be the folder that was at its path before, although it was made again. The same top folder, the same
    /// address from which it was cloned, and the same beginning of its reflog speak for that. A folder without a repository has none of
    /// them, and the row of an earlier version knows too little.
    fn continues(&self, known: &FolderRow) -> bool {
        let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let now = self.row();
        known.trace == now.trace
            || is_same(&known.root_identity, &now.root_identity)
            || is_same(&known.remote, &now.remote)
            || (known.root.is_none() && known.remote.is_none())
    }
}

fn state(conn: &Connection, shared: &Shared, seen: &SeenFolder) -> Result<FolderState> {
    let known = folders::by_id(conn, &seen.group.id)?;
    let group = current_group(conn, &seen.group.id)?;
    if let (Some(known), Some(group)) = (&known, &group)
        && let (Some(before), Some(now)) = (&known.identity, &seen.identity)
        && before != now
    {
        let same = group_of_same(conn, shared, seen)?;
        // The folder of the project is elsewhere now, or it is not known where, and this one came after it.
        let is_elsewhere = known.path != seen.path
            || leads_to(conn, &folders::same(conn, known)?, group)?
            || !seen.continues(known);
        match same {
            Some(other) if other != *group => return Ok(FolderState::Other(other)),
            None if is_elsewhere => {
                return Ok(FolderState::Other(seen.group.of_successor(now)));
            }
            _ => {}
        }
    }
    Ok(match (group, known) {
        (Some(_), Some(known)) if known == seen.row_after(Some(&known)) => FolderState::Known,
        (Some(_), _) => FolderState::Unrecorded,
        (None, None) if group_of_moved(conn, shared, seen)?.is_some() => FolderState::Moved,
        // A known folder without a project was healed before, and a person took that back.
        (None, _) => FolderState::New,
    })
}

/// Returns the only project that this folder has at other paths.
fn group_of_same(conn: &Connection, shared: &Shared, seen: &SeenFolder) -> Result<Option<Group>> {
    only_group(conn, shared, seen, folders::same(conn, &seen.row())?)
}

/// Returns the only project that a folder has which the store does not know: at other paths, or before it had a repository.
fn group_of_moved(conn: &Connection, shared: &Shared, seen: &SeenFolder) -> Result<Option<Group>> {
    if let Some(group) = group_of_same(conn, shared, seen)? {
        return Ok(Some(group));
    }
    match &seen.root {
        Some(Root { path, identity: Some(identity), .. }) if seen.path != *path => {
            let rows = folders::plain(conn, identity, seen.part.as_deref())?;
            only_group(conn, shared, seen, rows)
        }
        _ => Ok(None),
    }
}

/// Returns the project of folders if it is one. An isolated one is left out unless the folder isolates itself.
fn only_group(
    conn: &Connection,
    shared: &Shared,
    seen: &SeenFolder,
    rows: Vec<FolderRow>,
) -> Result<Option<Group>> {
    let isolation = shared.isolation();
    let mut found: Vec<Group> = Vec::new();
    for row in rows {
        let Some(group) = current_group(conn, &row.id)? else { continue };
        let is_open = seen.is_isolated || !isolation.is_isolated(&group.id);
        if is_open && !found.contains(&group) {
            found.push(group);
        }
    }
    Ok(if found.len() == 1 { found.pop() } else { None })
}

/// Returns whether one of the folders belongs to this project.
fn leads_to(conn: &Connection, rows: &[FolderRow], group: &Group) -> Result<bool> {
    for row in rows {
        if current_group(conn, &row.id)?.as_ref() == Some(group) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the project with this id, or the one that it is an alias of.
fn current_group(conn: &Connection, id: &str) -> Result<Option<Group>> {
    let Some(id) = import_rows::group(conn, id)? else { return Ok(None) };
    Ok(groups::name(conn, &id)?.map(|name| Group { id, name }))
}
