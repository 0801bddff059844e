//! Health of the database file: checks at open, and flags in `meta`.
//!
//! If the last daemon did not close the store, it is checked: a small store before serving, a larger
//! one during serving ([`Check::Due`]), so that start time does not grow with the store. A fault
//! found during serving is recorded: the next start checks before serving, even after a clean stop.

use crate::database_files::wal_path;
use crate::db::{connection, integrity};
use crate::error::{Error, Result};
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// Maximum size in bytes of a database that is checked before serving (about 30 ms).
const MAX_CHECKED_AT_OPEN: u64 = 4 << 20;
/// A write-ahead log of more bytes is emptied before serving, since every new connection would have
/// to read it.
const MAX_LOG_AT_OPEN: u64 = 4 << 20;

/// Whether the file still has to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The store was closed cleanly, or has been checked.
    Done,
    /// The whole store has to be checked during serving: it was not closed cleanly and is too large
    /// to check before, or a fault is known.
    Due,
}

/// What is known of the files of a store before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileCondition {
    /// They are as the last daemon left them.
    Known,
    /// It is not known whether they are.
    Unknown,
    /// Some pages have changed since.
    Suspect,
}

/// The state in which a store was found when it was opened.
#[derive(Debug)]
pub(crate) struct OpenedState {
    pub check: Check,
    /// The nonce of the index snapshot, which [`end`] wrote to `meta`; opening removes it.
    pub word: Option<String>,
}

/// Returns the space of free pages to the file system.
pub(crate) fn release_free_pages(conn: &Connection) -> Result<()> {
    // Each step frees one page.
    let mut statement = conn.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = statement.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

/// Returns the nonce of the index snapshot that a clean stop has left, if any.
pub(crate) fn snapshot_nonce(conn: &Connection) -> Result<Option<String>> {
    meta(conn, "index")
}

/// Returns whether the store was not closed.
pub(crate) fn is_open(conn: &Connection) -> Result<bool> {
    Ok(meta(conn, "open")?.is_some())
}

/// Marks the store as open. Checks it first if the last daemon did not close it, if a fault was found
/// while it ran, or if the file is not known to be as it was left.
///
/// # Errors
/// `Damaged` if the check finds a fault of a page; nothing was changed then.
pub(crate) fn begin(
    conn: &Connection,
    path: &Path,
    condition: FileCondition,
) -> Result<OpenedState> {
    let unclean = is_open(conn)?;
    let known_fault = damage(conn)?;
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    // The log of a store that was not closed may contain hard-deleted content.
    if unclean || size(&wal_path(path)) > MAX_LOG_AT_OPEN {
        connection::truncate_log(conn)?;
    }
    let is_small = size(path) <= MAX_CHECKED_AT_OPEN;
    let is_suspect = condition == FileCondition::Suspect || known_fault.is_some();
    let is_check_due = unclean || condition == FileCondition::Unknown;
    let checks_now = is_suspect || (is_check_due && is_small);
    if checks_now {
        let structure = integrity::structure(conn)?;
        if let Some(fault) = structure.pages.first() {
            return Err(Error::Damaged { path: path.to_path_buf(), what: fault.clone() });
        }
        if let Some(fault) = structure.faults().next().filter(|_| known_fault.is_none()) {
            set_damaged(conn, fault)?;
        }
        if let Err(fault) = integrity::words(conn) {
            set_damaged(conn, &format!("the keyword index differs from the texts: {fault}"))?;
        }
    }
    let tx = conn.unchecked_transaction()?;
    let word = snapshot_nonce(&tx)?;
    tx.execute("DELETE FROM meta WHERE key = 'index'", [])?;
    set_meta(&tx, "open", "1")?;
    add_one(&tx, "generation")?;
    tx.commit()?;
    let is_due = (is_check_due && !checks_now) || is_suspect;
    Ok(OpenedState { check: if is_due { Check::Due } else { Check::Done }, word })
}

/// Records that mentions are still to be extracted: the store is older than the table of mentions,
/// and the start that extracts them may be interrupted.
pub(crate) fn request_mention_backfill(conn: &Connection) -> Result<()> {
    set_meta(conn, "mentions", "due")
}

/// Returns whether mentions are still to be extracted.
pub(crate) fn needs_mention_backfill(conn: &Connection) -> Result<bool> {
    Ok(meta(conn, "mentions")?.is_some())
}

/// Records that mentions were extracted.
pub(crate) fn finish_mention_backfill(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM meta WHERE key = 'mentions'", [])?;
    Ok(())
}

/// Records a fault, so that the next start checks before serving. Only a check of the whole store
/// without a fault removes it.
pub(crate) fn set_damaged(conn: &Connection, fault: &str) -> Result<()> {
    set_meta(conn, "damaged", fault)
}

/// Returns the recorded fault.
pub(crate) fn damage(conn: &Connection) -> Result<Option<String>> {
    meta(conn, "damaged")
}

/// Removes the recorded fault.
pub(crate) fn clear_damage(conn: &Connection) -> Result<()> {
    remove_meta(conn, "damaged")
}

/// Returns when the whole store was last checked.
pub(crate) fn last_full_check(conn: &Connection) -> Result<Option<Timestamp>> {
    Ok(meta(conn, "last_full_check")?.and_then(|text| text.parse().ok()).map(Timestamp))
}

/// Records that the whole store was checked.
pub(crate) fn set_last_full_check(conn: &Connection, now: Timestamp) -> Result<()> {
    set_meta(conn, "last_full_check", &now.0.to_string())
}

/// Marks the store as closed. A nonce identifies this state for the index snapshot.
pub(crate) fn mark_closed(conn: &Connection, nonce: Option<&str>) -> Result<()> {
    let tx = conn.unchecked_transaction()?;
    tx.execute("DELETE FROM meta WHERE key = 'open'", [])?;
    if let Some(nonce) = nonce {
        set_meta(&tx, "index", nonce)?;
    }
    tx.commit()?;
    Ok(())
}

/// Returns the latest trusted time of a write.
pub(crate) fn last_seen(conn: &Connection) -> Result<Timestamp> {
    Ok(Timestamp(meta(conn, "last_seen")?.and_then(|text| text.parse().ok()).unwrap_or(0)))
}

/// Records the latest trusted time of a write, and deletes the recorded untrusted time.
pub(crate) fn set_last_seen(conn: &Connection, now: Timestamp) -> Result<()> {
    conn.prepare_cached("DELETE FROM meta WHERE key = 'suspected'")?.execute([])?;
    set_meta(conn, "last_seen", &now.0.to_string())
}

/// Returns the recorded time that was too far ahead to be trusted.
pub(crate) fn suspected(conn: &Connection) -> Result<Option<Timestamp>> {
    Ok(meta(conn, "suspected")?.and_then(|text| text.parse().ok()).map(Timestamp))
}

/// Records a time that is too far ahead to be trusted. Keeps an earlier record.
pub(crate) fn suspect(conn: &Connection, now: Timestamp) -> Result<()> {
    if suspected(conn)?.is_some() {
        return Ok(());
    }
    set_meta(conn, "suspected", &now.0.to_string())
}

/// Returns when the last maintenance run completed.
pub(crate) fn last_run(conn: &Connection) -> Result<Option<Timestamp>> {
    Ok(meta(conn, "last_run_at")?.and_then(|text| text.parse().ok()).map(Timestamp))
}

/// Records that a maintenance run completed.
pub(crate) fn set_last_run(conn: &Connection, now: Timestamp) -> Result<()> {
    set_meta(conn, "last_run_at", &now.0.to_string())
}

/// Returns whether a person has paused maintenance.
pub(crate) fn paused(conn: &Connection) -> Result<bool> {
    Ok(meta(conn, "paused")?.is_some())
}

/// Pauses or resumes maintenance.
pub(crate) fn set_paused(conn: &Connection, paused: bool) -> Result<()> {
    if paused {
        return set_meta(conn, "paused", "1");
    }
    conn.execute("DELETE FROM meta WHERE key = 'paused'", [])?;
    Ok(())
}

/// Returns the id that the database got when it was created.
pub(crate) fn database_uuid(conn: &Connection) -> Result<String> {
    Ok(meta(conn, "database_uuid")?.unwrap_or_default())
}

/// Returns the number of the last change: the last row of the audit log, whether it still exists or
/// not.
pub(crate) fn last_change(conn: &Connection) -> Result<i64> {
    last_row(conn, "memory_log")
}

/// Returns the highest row number that a table ever had, 0 for none.
pub(crate) fn last_row(conn: &Connection, table: &str) -> Result<i64> {
    let last = conn
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?
        .query_row([table], |row| row.get(0))
        .optional()?;
    Ok(last.unwrap_or(0))
}

/// Makes the row numbers of a table continue after `last`, if they do not already.
pub(crate) fn continue_rows(conn: &Connection, table: &str, last: i64) -> Result<()> {
    if last_row(conn, table)? >= last {
        return Ok(());
    }
    let updated =
        conn.execute("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1", (table, last))?;
    if updated == 0 {
        conn.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?1, ?2)", (table, last))?;
    }
    Ok(())
}

/// The key in `meta`: the time from which on the journal has every change.
const HISTORY_FROM: &str = "history_from";

/// Records that the journal lacks changes before a time.
pub(crate) fn begin_history(conn: &Connection, at: Timestamp) -> Result<()> {
    set_meta(conn, HISTORY_FROM, &at.0.to_string())
}

/// Returns the time from which on the journal has every change.
pub(crate) fn history_from(conn: &Connection) -> Result<Timestamp> {
    Ok(Timestamp(number(conn, HISTORY_FROM)?.unwrap_or_default()))
}

/// Adds one to a counter in `meta`; returns its new value.
pub(crate) fn add_one(conn: &Connection, key: &str) -> Result<i64> {
    let next = number(conn, key)?.unwrap_or(0) + 1;
    set_meta(conn, key, &next.to_string())?;
    Ok(next)
}

/// Returns a number in `meta`.
pub(crate) fn number(conn: &Connection, key: &str) -> Result<Option<i64>> {
    Ok(meta(conn, key)?.and_then(|text| text.parse().ok()))
}

/// Returns a value of `meta`.
pub(crate) fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| Ok(lossy(row)))
        .optional()?)
}

/// Returns the text in the first column. A byte that is not UTF-8 must not keep the store from
/// opening.
fn lossy(row: &rusqlite::Row<'_>) -> String {
    let bytes = row.get_ref(0).ok().and_then(|value| value.as_bytes().ok());
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// Removes a value of `meta`.
pub(crate) fn remove_meta(conn: &Connection, key: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
    Ok(())
}

/// Sets a value of `meta`.
pub(crate) fn set_meta(conn: &Connection, key: &str, value: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value")?
        .execute((key, value))?;
    Ok(())
}
