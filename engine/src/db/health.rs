//! What the file itself needs: checks when it is opened, checkpoints while it is used.
//!
//! A store that the last daemon did not close is checked. A small one is checked before it serves; a larger one is served meanwhile
//! ([`Check::Due`]), so that a start never grows dear with the store. What the check then finds is noted, and the next start refuses.

use crate::db::connection;
use crate::error::{Error, Result};
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest database, in bytes, that is checked before it serves (some 30 ms).
const CHECKED_AT_ONCE: u64 = 4 << 20;
/// A log of this many bytes is emptied before serving: every further opening would have to read it again.
const LONG_LOG: u64 = 4 << 20;

/// How long the writer waits for a reader to end, where it can try again later.
const A_RECALL: Duration = Duration::from_millis(200);

/// Whether the file still has to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// It was closed in good order, or has been checked.
    Done,
    /// It was not closed, and is too large to wait for: check it beside serving.
    Due,
}

/// What is known of a store when it is opened.
#[derive(Debug)]
pub(crate) struct Begun {
    pub check: Check,
    /// What [`end`] has left in it; whoever opens it takes it away.
    pub word: Option<String>,
}

/// Gives the space of rows that are gone back to the disk.
pub(crate) fn give_back(conn: &Connection) -> Result<()> {
    // A page at each step, so it is asked until it has no more.
    let mut statement = conn.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = statement.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

/// Marks the store as open and checks it if the last daemon did not close it.
///
/// # Errors
/// `Damaged` when the check finds fault; nothing was changed then.
pub(crate) fn begin(conn: &Connection, path: &Path) -> Result<Begun> {
    let unclean = meta(conn, "open")?.is_some();
    let suspect = meta(conn, "damaged")?.is_some();
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    // What was deleted for good may still stand in a log that nobody closed.
    if unclean || size(&beside(path, "-wal")) > LONG_LOG {
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    let wait = suspect || size(path) <= CHECKED_AT_ONCE;
    if unclean && wait {
        check(conn, path)?;
    }
    if suspect {
        conn.execute("DELETE FROM meta WHERE key = 'damaged'", [])?;
    }
    let tx = conn.unchecked_transaction()?;
    let word = meta(&tx, "index")?;
    tx.execute("DELETE FROM meta WHERE key = 'index'", [])?;
    set_meta(&tx, "open", "1")?;
    tx.commit()?;
    Ok(Begun { check: if unclean && !wait { Check::Due } else { Check::Done }, word })
}

/// Notes that it is still to be found which memories name an entity: the store is older than that is kept, and a start may be broken off.
pub(crate) fn request_mention_backfill(conn: &Connection) -> Result<()> {
    set_meta(conn, "mentions", "due")
}

/// Whether that is still to be found.
pub(crate) fn needs_mention_backfill(conn: &Connection) -> Result<bool> {
    Ok(meta(conn, "mentions")?.is_some())
}

/// Notes that it has been found.
pub(crate) fn finish_mention_backfill(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'mentions'", [])?;
    Ok(())
}

/// Notes that a check found fault, so that the next start looks before it serves.
pub(crate) fn set_damaged(conn: &Connection, what: &str) -> Result<()> {
    set_meta(conn, "damaged", what)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Empties the write-ahead log into the database and marks the store as closed, with a word by which this state of it is known again.
pub(crate) fn end(conn: &Connection, word: Option<&str>) -> Result<()> {
    let tx = conn.unchecked_transaction()?;
    tx.execute("DELETE FROM meta WHERE key = 'open'", [])?;
    if let Some(word) = word {
        set_meta(&tx, "index", word)?;
    }
    tx.commit()?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Looks at the structure of every page.
///
/// # Errors
/// `Damaged` with the first fault.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<()> {
    let said: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said == "ok" { Ok(()) } else { Err(Error::Damaged { path: path.to_path_buf(), what: said }) }
}

/// Empties the write-ahead log, so that nothing deleted is left in it; false when a reader was in the way for longer than a recall is.
pub(crate) fn empty_log(conn: &Connection) -> Result<bool> {
    conn.busy_timeout(A_RECALL)?;
    let emptied = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    conn.busy_timeout(connection::BUSY)?;
    Ok(emptied? == 0)
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

/// When maintenance has last come to the end of a run.
pub(crate) fn last_run(conn: &Connection) -> Result<Option<Timestamp>> {
    Ok(meta(conn, "last_run_at")?.and_then(|text| text.parse().ok()).map(Timestamp))
}

/// Notes that maintenance has come to the end of a run.
pub(crate) fn set_last_run(conn: &Connection, now: Timestamp) -> Result<()> {
    set_meta(conn, "last_run_at", &now.0.to_string())
}

/// Whether a person has paused maintenance.
pub(crate) fn paused(conn: &Connection) -> Result<bool> {
    Ok(meta(conn, "paused")?.is_some())
}

/// Pauses maintenance, or lets it go on.
pub(crate) fn set_paused(conn: &Connection, paused: bool) -> Result<()> {
    if paused {
        return set_meta(conn, "paused", "1");
    }
    conn.execute("DELETE FROM meta WHERE key = 'paused'", [])?;
    Ok(())
}

fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

fn set_meta(conn: &Connection, key: &str, value: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value")?
        .execute((key, value))?;
    Ok(())
}
