//! Whole tables, row by row.

use super::memories::{COLUMNS, Memory, read};
use crate::error::Result;
use rusqlite::Connection;

/// Every memory, newest first.
pub(crate) fn newest_first(conn: &Connection, mut each: impl FnMut(Memory)) -> Result<()> {
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories ORDER BY seq DESC"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(read(row)?);
    }
    Ok(())
}
