//! Rows of `folders`: the folders of projects, and what they are whatever their path.
//!
//! Not here: which folder is which project (`operations::folders`).

use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

/// Maximum folders that are compared: an attacker's names must not slow a session down.
const MAX_COMPARED: usize = 64;

/// A folder of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderRow {
    /// Id of the group that the path makes.
    pub id: String,
    pub path: String,
    /// The name in `.loci.toml`.
    pub part: Option<String>,
    pub identity: Option<String>,
    pub trace: Option<String>,
    /// The top folder of the project.
    pub root: Option<String>,
    pub root_identity: Option<String>,
    /// Where the repository was cloned from, as a hash.
    pub remote: Option<String>,
}

const COLUMNS: &str = "id, path, part, identity, trace, root, root_identity, remote";

/// Returns the folder with this id.
pub(crate) fn by_id(conn: &Connection, id: &str) -> Result<Option<FolderRow>> {
    let sql = format!("SELECT {COLUMNS} FROM folders WHERE id = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
}

/// Returns all folders, the newest last.
pub(crate) fn all(conn: &Connection) -> Result<Vec<FolderRow>> {
    let sql = format!("SELECT {COLUMNS} FROM folders ORDER BY seen_at, id");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the other paths at which this folder was seen, the newest first.
pub(crate) fn same(conn: &Connection, folder: &FolderRow) -> Result<Vec<FolderRow>> {
    let Some(identity) = &folder.identity else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT {COLUMNS} FROM folders WHERE identity = ?1 AND part IS ?2 AND id <> ?3
         ORDER BY seen_at DESC, id LIMIT {MAX_COMPARED}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map((identity, &folder.part, &folder.id), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the folders whose sessions work in a project, by their own paths or by an alias, the newest first.
pub(crate) fn of_group(conn: &Connection, group: &str) -> Result<Vec<FolderRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM folders WHERE id = ?1 OR id IN (SELECT alias FROM group_aliases WHERE group_id = ?1)
         ORDER BY seen_at DESC, id LIMIT {MAX_COMPARED}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([group], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the folders that are this one, and that had no repository when they were last seen.
pub(crate) fn plain(
    conn: &Connection,
    identity: &str,
    part: Option<&str>,
) -> Result<Vec<FolderRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM folders WHERE identity = ?1 AND part IS ?2 AND path NOT LIKE '%/.git'
         ORDER BY seen_at DESC, id LIMIT {MAX_COMPARED}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map((identity, part), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns folders that may be this one at another path: of a copy of the repository, cloned from the same address, or of the same name.
pub(crate) fn alike(conn: &Connection, folder: &FolderRow) -> Result<Vec<FolderRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM folders WHERE id <> ?1 AND part IS ?2
         ORDER BY trace IS ?3 DESC, seen_at DESC, id"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map((&folder.id, &folder.part, &folder.trace), read)?;
    let mut found = rows.collect::<Result<Vec<FolderRow>, _>>()?;
    found.retain(|other| {
        let is_copy = other.trace.is_some() && other.trace == folder.trace;
        let is_clone = other.remote.is_some() && other.remote == folder.remote;
        is_copy || is_clone || name(&other.path) == name(&folder.path)
    });
    found.truncate(MAX_COMPARED);
    Ok(found)
}

/// Returns the name of a project's folder.
pub(crate) fn name(path: &str) -> &str {
    let path = path.trim_end_matches('/').trim_end_matches("/.git");
    path.rsplit('/').next().unwrap_or(path)
}

/// Writes a folder, as it is now.
pub(crate) fn put(conn: &Connection, folder: &FolderRow, now: Timestamp) -> Result<()> {
    let FolderRow { id, path, part, identity, trace, root, root_identity, remote } = folder;
    conn.prepare_cached(
        "INSERT INTO folders(id, path, part, identity, trace, root, root_identity, remote, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT(id) DO UPDATE SET path = excluded.path, part = excluded.part, identity = excluded.identity,
           trace = excluded.trace, root = excluded.root, root_identity = excluded.root_identity, remote = excluded.remote,
           seen_at = excluded.seen_at",
    )?
    .execute((id, path, part, identity, trace, root, root_identity, remote, now.0))?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<FolderRow> {
    Ok(FolderRow {
        id: row.get(0)?,
        path: row.get(1)?,
        part: row.get(2)?,
        identity: row.get(3)?,
        trace: row.get(4)?,
        root: row.get(5)?,
        root_identity: row.get(6)?,
        remote: row.get(7)?,
    })
}
