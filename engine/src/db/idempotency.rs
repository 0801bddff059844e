//! Rows of `idempotency`: the answers of calls that changed something, by the key that the shim
//! added.

use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// Returns the stored answer of this call as JSON.
pub(crate) fn find(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT result FROM idempotency WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Stores the answer of this call.
pub(crate) fn keep(conn: &Connection, key: &str, result: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("INSERT INTO idempotency(key, result, created_at) VALUES (?1, ?2, ?3)")?
        .execute((key, result, now.0))?;
    Ok(())
}

/// Deletes answers given before a time; returns how many.
pub(crate) fn expire(conn: &Connection, before: Timestamp) -> Result<usize> {
    Ok(conn.prepare_cached("DELETE FROM idempotency WHERE created_at < ?1")?.execute([before.0])?)
}

/// Deletes every answer that names a memory. A repeated call then takes effect again, or is
/// refused.
pub(crate) fn redact(conn: &Connection, memory: &str) -> Result<()> {
    conn.execute("DELETE FROM idempotency WHERE instr(result, ?1) > 0", [memory])?;
    Ok(())
}
