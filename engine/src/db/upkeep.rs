//! What the file itself needs: checks when it is opened, checkpoints while it is used.

use crate::error::{Error, Result};
use crate::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// Marks the store as open and checks it if the last daemon did not close it.
///
/// # Errors
/// `Damaged` when the check finds fault; nothing was changed then.
pub(crate) fn begin(conn: &Connection, path: &Path) -> Result<()> {
    if meta(conn, "open")?.is_some() {
        check(conn, path)?;
    }
    set_meta(conn, "open", "1")
}

/// Empties the write-ahead log into the database and marks the store as closed.
pub(crate) fn end(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'open'", [])?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn check(conn: &Connection, path: &Path) -> Result<()> {
    let said: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said == "ok" { Ok(()) } else { Err(Error::Damaged { path: path.to_path_buf(), what: said }) }
}

/// Moves committed pages from the write-ahead log into the database, as far as no reader is in the way; pages left in the log.
pub(crate) fn checkpoint(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (in_log, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok((in_log - moved).max(0))
    })?)
}

/// The latest moment that any write has seen.
pub(crate) fn last_seen(conn: &Connection) -> Result<Timestamp> {
    Ok(Timestamp(meta(conn, "last_seen")?.and_then(|text| text.parse().ok()).unwrap_or(0)))
}

/// Keeps the latest moment that any write has seen, and drops what was suspected before it.
pub(crate) fn set_last_seen(conn: &Connection, now: Timestamp) -> Result<()> {
    conn.prepare_cached("DELETE FROM meta WHERE key = 'suspected'")?.execute([])?;
    set_meta(conn, "last_seen", &now.0.to_string())
}

/// The first moment that was too far ahead to be believed.
pub(crate) fn suspected(conn: &Connection) -> Result<Option<Timestamp>> {
    Ok(meta(conn, "suspected")?.and_then(|text| text.parse().ok()).map(Timestamp))
}

/// Notes the first moment that is too far ahead to be believed.
pub(crate) fn suspect(conn: &Connection, now: Timestamp) -> Result<()> {
    if suspected(conn)?.is_some() {
        return Ok(());
    }
    set_meta(conn, "suspected", &now.0.to_string())
}

fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()?)
}

fn set_meta(conn: &Connection, key: &str, value: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value")?
        .execute((key, value))?;
    Ok(())
}
