//! Rows of `group_switches`, `folder_switches` and `incognito_sessions`: where a person has switched loci off.
//!
//! Not here: what off means (the daemon).

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::switch_set::{FolderSwitch, SwitchSet};
use crate::model::time::Timestamp;
use rusqlite::{Connection, Row};

/// For how long a session stays incognito at least, in milliseconds: no session lasts longer.
const INCOGNITO_MS: i64 = 90 * 24 * 3_600_000;

/// The state of a project that is off.
pub(crate) const OFF: &str = "off";
/// The state of a project that was switched on.
pub(crate) const ON: &str = "on";

/// Returns all switches.
pub(crate) fn all(conn: &Connection) -> Result<SwitchSet> {
    Ok(SwitchSet {
        off: groups(conn, OFF)?,
        on: groups(conn, ON)?,
        folders: folders(conn)?,
        incognito: incognito(conn)?,
    })
}

/// Returns the ids of the projects with this switch.
fn groups(conn: &Connection, state: &str) -> Result<Vec<String>> {
    let sql = "SELECT group_id FROM group_switches WHERE state = ?1 ORDER BY group_id";
    texts(conn, sql, [state], Source::named("switch of a project"))
}

/// Returns the sessions that became incognito.
fn incognito(conn: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT session FROM incognito_sessions ORDER BY session";
    texts(conn, sql, [], Source::named("incognito session"))
}

/// What is off in a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Off {
    /// Ids of the projects.
    pub groups: Vec<String>,
    /// The folders.
    pub folders: Vec<FolderSwitch>,
}

/// Returns what is off, also for a database of an earlier schema, which has less.
pub(crate) fn off_of_any_schema(conn: &Connection) -> Result<Off> {
    let has = |table: &str| -> Result<bool> {
        let exists = "SELECT 1 FROM sqlite_schema WHERE name = ?1";
        Ok(conn.prepare(exists)?.exists([table])?)
    };
    let mut off = Off::default();
    if has("group_switches")? {
        off.groups = groups(conn, OFF)?;
    }
    if has("folder_switches")? {
        off.folders = folders(conn)?;
        off.folders.retain(|folder| folder.is_off);
    }
    Ok(off)
}

/// Returns the folders with a switch, the latest first; of several at one time, those that are off.
fn folders(conn: &Connection) -> Result<Vec<FolderSwitch>> {
    let mut statement = conn.prepare_cached(
        "SELECT path, identity, group_id, state = 'off' FROM folder_switches
         ORDER BY since DESC, state = 'off' DESC, path, group_id",
    )?;
    let read = |row: &Row<'_>| {
        let (path, identity, group) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(FolderSwitch { path, identity, group, is_off: row.get(3)? })
    };
    let mut found = Vec::new();
    damage::reading(conn, Source::named("switch of a folder")).each(
        &mut statement,
        [],
        read,
        |folder| {
            found.push(folder);
            Ok(())
        },
    )?;
    Ok(found)
}

/// Sets the switch of a folder.
pub(crate) fn set_folder(conn: &Connection, folder: &FolderSwitch, now: Timestamp) -> Result<()> {
    let FolderSwitch { path, identity, group, is_off } = folder;
    conn.prepare_cached(
        "INSERT INTO folder_switches(path, identity, group_id, state, since) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT(path, group_id) DO UPDATE SET identity = coalesce(excluded.identity, identity), state = excluded.state,
           since = excluded.since",
    )?
    .execute((path, identity, group, if *is_off { OFF } else { ON }, now.0))?;
    Ok(())
}

/// Sets the switch of all known folders of a project.
pub(crate) fn set_folders_of(
    conn: &Connection,
    group: &str,
    state: &str,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached("UPDATE folder_switches SET state = ?2, since = ?3 WHERE group_id = ?1")?
        .execute((group, state, now.0))?;
    Ok(())
}

/// Sets the switch of a project.
pub(crate) fn set_group(conn: &Connection, group: &str, state: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO group_switches(group_id, state, since) VALUES (?1, ?2, ?3)
         ON CONFLICT(group_id) DO UPDATE SET state = excluded.state, since = excluded.since",
    )?
    .execute((group, state, now.0))?;
    Ok(())
}

/// Makes a session incognito, and drops those that ended long ago.
pub(crate) fn set_incognito(conn: &Connection, session: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("DELETE FROM incognito_sessions WHERE since < ?1")?
        .execute([now.0 - INCOGNITO_MS])?;
    conn.prepare_cached(
        "INSERT INTO incognito_sessions(session, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((session, now.0))?;
    Ok(())
}

/// Ends that a session is incognito.
pub(crate) fn end_incognito(conn: &Connection, session: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM incognito_sessions WHERE session = ?1")?.execute([session])?;
    Ok(())
}

fn texts(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    source: Source,
) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut found = Vec::new();
    let read = |row: &Row<'_>| row.get::<_, String>(0);
    damage::reading(conn, source).each(&mut statement, params, read, |text| {
        found.push(text);
        Ok(())
    })?;
    Ok(found)
}
