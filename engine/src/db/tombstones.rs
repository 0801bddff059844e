//! Rows of `tombstones`: ids of hard-deleted memories.

use crate::db::memory_row::parsed;
use crate::error::Result;
use crate::model::time::Timestamp;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;

/// Records that a memory was hard-deleted.
pub(crate) fn insert(conn: &Connection, id: &MemoryId, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO tombstones(id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute((id.as_str(), now.0))?;
    Ok(())
}

/// Returns whether a memory was hard-deleted.
pub(crate) fn has(conn: &Connection, id: &MemoryId) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM tombstones WHERE id = ?1")?.exists([id.as_str()])?)
}

/// Returns the ids of all hard-deleted memories.
pub(crate) fn ids(conn: &Connection) -> Result<Vec<MemoryId>> {
    let mut statement = conn.prepare("SELECT id FROM tombstones")?;
    let ids = statement.query_map([], |row| parsed(row, 0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}
