//! Recognises the folder of a project that was renamed or moved, and leads its sessions to the memories of the project.
//!
//! A folder is the same if device, inode and time of creation are: no archive, clone or name can forge them. Such a folder gets an alias
//! of its project, which is one act that `undo` takes back; no memory is moved. A folder that is only alike (a copy, or the same name) is
//! suggested to a person and never healed. Not here: reading a folder (the shim), when a session is recognised (the daemon).

use crate::db::folders::{self, FolderRow};
use crate::db::rows::Row;
use crate::db::{groups, import_rows};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::transaction::change::CallContext;
use loci_proto::group::Group;
use rusqlite::Connection;

/// The act of an alias that a moved folder got.
pub(crate) const HEAL: &str = "groups heal";
/// Maximum folders that are suggested.
const MAX_SUGGESTED: usize = 3;

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

/// A folder that may be this one at an earlier path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlikeFolder {
    /// The earlier path.
    pub path: String,
    /// Its project.
    pub group: Group,
    /// Whether it is a copy of one repository, and not only of the same name.
    pub is_copy: bool,
}

impl Reader {
    /// Returns what the store knows of a folder.
    ///
    /// # Errors
    /// `Database`.
    pub fn folder_state(&self, seen: &SeenFolder) -> Result<FolderState> {
        state(&self.conn, &self.shared, seen)
    }

    /// Returns folders that may be this one at an earlier path, the likeliest first.
    ///
    /// # Errors
    /// `Database`.
    pub fn alike_folders(&self, seen: &SeenFolder) -> Result<Vec<AlikeFolder>> {
        let own = current_group(&self.conn, &seen.group.id)?;
        let isolation = self.shared.isolation();
        let mut found: Vec<AlikeFolder> = Vec::new();
        for row in folders::alike(&self.conn, &seen.row())? {
            let Some(group) = current_group(&self.conn, &row.id)? else { continue };
            let is_known = own.as_ref() == Some(&group) || found.iter().any(|f| f.group == group);
            if is_known || isolation.is_isolated(&group.id) || seen.is_isolated {
                continue;
            }
            let is_copy = row.trace.is_some() && row.trace == seen.trace;
            found.push(AlikeFolder { path: row.path, group, is_copy });
        }
        found.truncate(MAX_SUGGESTED);
        Ok(found)
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
                folders::put(change.conn, &seen.row(), call.now)?;
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
            let Some(group) = group_of_same(change.conn, change.shared, seen)? else {
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

impl SeenFolder {
    fn row(&self) -> FolderRow {
        let Self { group, path, part, identity, trace, .. } = self.clone();
        FolderRow { id: group.id, path, part, identity, trace }
    }
}

fn state(conn: &Connection, shared: &Shared, seen: &SeenFolder) -> Result<FolderState> {
    let known = folders::by_id(conn, &seen.group.id)?;
    let group = current_group(conn, &seen.group.id)?;
    if let (Some(known), Some(group)) = (&known, &group)
        && let (Some(before), Some(now)) = (&known.identity, &seen.identity)
        && before != now
    {
        match group_of_same(conn, shared, seen)? {
            Some(other) if other != *group => return Ok(FolderState::Other(other)),
            Some(_) => {}
            // The folder of the project is elsewhere now, and this one came after it.
            None if known.path != seen.path
                || leads_to(conn, &folders::same(conn, known)?, group)? =>
            {
                return Ok(FolderState::Other(seen.group.of_successor(now)));
            }
            None => {}
        }
    }
    Ok(match (group, known) {
        (Some(_), Some(known)) if known == seen.row() => FolderState::Known,
        (Some(_), _) => FolderState::Unrecorded,
        // A folder that was healed before, which a person took back.
        (None, Some(_)) => FolderState::New,
        (None, None) if group_of_same(conn, shared, seen)?.is_some() => FolderState::Moved,
        (None, None) => FolderState::New,
    })
}

/// Returns the only project that this folder has at other paths. An isolated one is left out unless the folder isolates itself.
fn group_of_same(conn: &Connection, shared: &Shared, seen: &SeenFolder) -> Result<Option<Group>> {
    let isolation = shared.isolation();
    let mut found: Vec<Group> = Vec::new();
    for row in folders::same(conn, &seen.row())? {
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
