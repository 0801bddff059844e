//! Rows of `tombstones`: ids of memories that were removed for good.

use crate::error::Result;
use crate::model::time::Timestamp;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;

/// Remembers that a memory was removed for good.
pub(crate) fn insert(conn: &Connection, id: &MemoryId, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO tombstones(id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute((id.as_str(), now.0))?;
    Ok(())
}

/// Whether a memory was removed for good.
pub(crate) fn has(conn: &Connection, id: &MemoryId) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM tombstones WHERE id = ?1")?.exists([id.as_str()])?)
}
