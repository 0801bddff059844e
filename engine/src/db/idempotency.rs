//! Rows of `idempotency`: the answers to calls that changed something, by the key that the shim stamped.

use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// The answer given to this call before, as JSON.
pub(crate) fn find(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT result FROM idempotency WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Keeps the answer to this call.
pub(crate) fn keep(conn: &Connection, key: &str, result: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("INSERT INTO idempotency(key, result, created_at) VALUES (?1, ?2, ?3)")?
        .execute((key, result, now.0))?;
    Ok(())
}

/// Forgets answers given before a moment; how many there were.
pub(crate) fn expire(conn: &Connection, before: Timestamp) -> Result<usize> {
    Ok(conn.prepare_cached("DELETE FROM idempotency WHERE created_at < ?1")?.execute([before.0])?)
}

/// Forgets every answer that names a memory; the call that is sent again then takes effect anew, or is refused.
pub(crate) fn redact(conn: &Connection, memory: &str) -> Result<()> {
    conn.execute("DELETE FROM idempotency WHERE instr(result, ?1) > 0", [memory])?;
    Ok(())
}
