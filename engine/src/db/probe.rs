//! Reads the state of a database without changing anything, with its write-ahead log and without.
//!
//! Used before the store is opened, to decide whether the log belongs to the file. Not here: the
//! decision (`database_files::recognition`).

use crate::db::{connection, health};
use crate::error::Result;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
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
    state(&immutable(path)?)
}

/// Checks every page of the file alone. Returns `ok` or the first fault.
///
/// # Errors
/// `Database`.
pub(crate) fn check_without_log(path: &Path) -> Result<String> {
    Ok(immutable(path)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// Reads the file as SQLite replays its log. Neither is changed.
///
/// # Errors
/// `Database`.
pub(crate) fn with_log(path: &Path) -> Result<FileState> {
    state(&replayed(path)?)
}

/// Checks every page of the file as SQLite replays its log. Returns `ok` or the first fault.
///
/// # Errors
/// `Database`.
pub(crate) fn check_with_log(path: &Path) -> Result<String> {
    Ok(replayed(path)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

fn replayed(path: &Path) -> Result<Connection> {
    let conn = connection::reader(path)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Opens a file alone for reading, as if it had no log, and creates no file beside it.
///
/// # Errors
/// `Database`.
pub(crate) fn immutable(path: &Path) -> Result<Connection> {
    connection::configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    let conn = Connection::open_with_flags(uri + "?immutable=1", flags)?;
    conn.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    Ok(conn)
}

fn state(conn: &Connection) -> Result<FileState> {
    let number = |key| health::number(conn, key);
    let uuid: String =
        conn.query_row("SELECT value FROM meta WHERE key = 'database_uuid'", [], |row| row.get(0))?;
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
