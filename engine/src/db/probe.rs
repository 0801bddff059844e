//! Reads the state of a database without changing anything, with its write-ahead log and without.
//!
//! Used before the store is opened, to decide whether the log belongs to the file. Not here: the
//! decision (`database_files::recognition`).

use crate::db::{connection, health, isolated_groups, switches, tombstones};
use crate::error::Result;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::Path;

/// The state that a database file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileState {
    /// The id of the database.
    pub uuid: String,
    /// How often it was opened.
    pub generation: i64,
    /// How many checkpoints it has had.
    pub checkpoints: i64,
    /// The first salt of the log that the last checkpoint moved into the file.
    pub wal_salt: Option<u32>,
    /// The number of the last change.
    pub last_change: i64,
    /// The number of memories.
    pub memories: usize,
}

/// Reads the file alone, as if it had no log.
///
/// # Errors
/// `Database` if the file alone cannot be read: it is damaged, or its tables are still in the log.
pub(crate) fn without_log(path: &Path) -> Result<FileState> {
    state(&connection::immutable(path)?)
}

/// Checks every page of the file alone. Returns `ok` or the first fault.
///
/// # Errors
/// `Database`.
pub(crate) fn check_without_log(path: &Path) -> Result<String> {
    Ok(connection::immutable(path)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// Reads the file as SQLite replays its log. Neither is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn with_log(path: &Path) -> Result<FileState> {
    state(&replayed(path)?)
}

/// Returns the ids of the memories that were hard-deleted in a database. Nothing is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn tombstones(path: &Path) -> Result<Vec<MemoryId>> {
    tombstones::ids(&replayed(path)?)
}

/// Returns the ids of the isolated projects of a database. Nothing is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn isolated_groups(path: &Path) -> Result<Vec<String>> {
    isolated_groups::all_of_any_schema(&replayed(path)?)
}

/// Returns what is switched off in a database. Nothing is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn switched_off(path: &Path) -> Result<switches::Off> {
    switches::off_of_any_schema(&replayed(path)?)
}

/// Returns the highest number of an act that a database ever had. Nothing is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn last_act(path: &Path) -> Result<i64> {
    health::last_row(&replayed(path)?, "journal")
}

/// Checks every page of the file as SQLite replays its log. Returns `ok` or the first fault.
///
/// # Errors
/// `Database`.
pub(crate) fn check_with_log(path: &Path) -> Result<String> {
    Ok(replayed(path)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// Returns whether neither the file alone nor the file with its log has a memory or an id: the first
/// migration of a new database was interrupted. Neither is changed.
///
/// # Errors
/// `Database` if one of the two cannot be read.
pub(crate) fn has_no_memory(path: &Path) -> Result<bool> {
    for conn in [connection::immutable(path)?, replayed(path)?] {
        let count_of = |table| count_of_table(&conn, table);
        if count_of("memories")? > 0 || count_of("meta")? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of rows of a table, which is 0 if it does not exist.
fn count_of_table(conn: &Connection, table: &str) -> Result<i64> {
    let exists = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let tables: i64 = conn.query_row(exists, [table], |row| row.get(0))?;
    if tables == 0 {
        return Ok(0);
    }
    Ok(conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}

fn replayed(path: &Path) -> Result<Connection> {
    let conn = connection::reader(path)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Reads the state through an open connection.
///
/// # Errors
/// `Database`.
pub(crate) fn state(conn: &Connection) -> Result<FileState> {
    let number = |key| health::number(conn, key);
    let uuid = health::meta(conn, "database_uuid")?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let memories: i64 = conn.query_row("SELECT count(*) FROM memories", [], |row| row.get(0))?;
    Ok(FileState {
        uuid,
        generation: number("generation")?.unwrap_or(0),
        checkpoints: number("checkpoints")?.unwrap_or(0),
        wal_salt: number("wal_salt")?.and_then(|salt| u32::try_from(salt).ok()),
        last_change: health::last_change(conn)?,
        memories: usize::try_from(memories).unwrap_or(0),
    })
}
