//! Rows of `idempotency`: the answers of calls that changed the store, by idempotency key.

use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// Returns the stored answer to the call with this key, as JSON. What is no text any more fails as
/// JSON, so that the call does not run again.
pub(crate) fn find(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT result FROM idempotency WHERE key = ?1")?
        .query_row([key], |row| {
            let bytes = row.get_ref(0)?.as_bytes().unwrap_or_default();
            Ok(String::from_utf8_lossy(bytes).into_owned())
        })
        .optional()?)
}

/// Stores the answer to the call with this key.
pub(crate) fn keep(conn: &Connection, key: &str, result: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("INSERT INTO idempotency(key, result, created_at) VALUES (?1, ?2, ?3)")?
        .execute((key, result, now.0))?;
    Ok(())
}

/// Deletes the answers given before a time; returns their number.
pub(crate) fn expire(conn: &Connection, before: Timestamp) -> Result<usize> {
    Ok(conn.prepare_cached("DELETE FROM idempotency WHERE created_at < ?1")?.execute([before.0])?)
}

/// Deletes every answer that contains the id of a memory. A repeated call then runs again.
pub(crate) fn redact(conn: &Connection, memory: &str) -> Result<()> {
    conn.execute("DELETE FROM idempotency WHERE instr(result, ?1) > 0", [memory])?;
    Ok(())
}
