//! Lists memories: all of them, or those that a partial id matches.

use crate::db::damage;
use crate::db::memory_row::{COLUMNS, SOURCE, intact_memories, read_memory};
use crate::error::Result;
use crate::model::memory::Memory;
use rusqlite::Connection;

/// Passes every memory to `each`, newest first.
pub(crate) fn newest_first(conn: &Connection, mut each: impl FnMut(Memory)) -> Result<()> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories ORDER BY seq DESC"))?;
    damage::reading(conn, SOURCE).each(&mut statement, [], read_memory, |memory| {
        each(memory);
        Ok(())
    })
}

/// Returns the memories whose id begins or ends with `part` (hexadecimal digits and hyphens only),
/// newest first.
pub(crate) fn by_partial_id(conn: &Connection, part: &str, limit: usize) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE id LIKE ?1 || '%' OR id LIKE '%' || ?1 ORDER BY seq DESC LIMIT ?2"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    intact_memories(conn, &mut statement, (part, limit))
}
