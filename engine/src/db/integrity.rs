//! Checks of the database for faults: pages, foreign keys, the keyword index.

use crate::error::Result;
use rusqlite::Connection;

/// Returns the result of `quick_check` on a new connection: `ok`, or the first fault.
pub(crate) fn pages(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// Counts rows that refer to missing rows.
pub(crate) fn dangling(conn: &Connection) -> Result<usize> {
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Fails if the keyword index differs from the texts. Needs the writing connection, and writes
/// nothing.
pub(crate) fn words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)", [])?;
    Ok(())
}

/// Returns the version of the schema.
pub(crate) fn schema(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Returns the size of the database in bytes as SQLite counts it.
pub(crate) fn size(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get(0),
    )?)
}

/// Damages the keyword index for a test: removes a text from it but keeps the row.
#[cfg(test)]
pub(crate) fn spoil_words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rowid, content) SELECT 'delete', seq, content FROM memories LIMIT 1", [])?;
    Ok(())
}
