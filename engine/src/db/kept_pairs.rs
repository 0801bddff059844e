//! Rows of `kept_pairs`: pairs of similar memories of which a person keeps both.

use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::Connection;

/// Returns whether both memories of a pair are kept.
pub(crate) fn has(conn: &Connection, newer: i64, older: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM kept_pairs WHERE newer = ?1 AND older = ?2";
    Ok(conn.prepare_cached(sql)?.exists((newer, older))?)
}

/// Takes back that both are kept; returns whether they were.
pub(crate) fn delete(conn: &Connection, newer: i64, older: i64) -> Result<bool> {
    let sql = "DELETE FROM kept_pairs WHERE newer = ?1 AND older = ?2";
    Ok(conn.prepare_cached(sql)?.execute((newer, older))? > 0)
}

/// Records that both are kept.
pub(crate) fn insert(conn: &Connection, newer: i64, older: i64, now: Timestamp) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO kept_pairs(newer, older, decided_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?
    .execute((newer, older, now.0))?;
    Ok(())
}
