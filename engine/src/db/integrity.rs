//! Looking for faults in the file: pages, references, the keyword index.

use crate::error::Result;
use rusqlite::Connection;

/// What `quick_check` says, on a connection that has not been used yet: `ok`, or the first fault.
pub(crate) fn pages(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
}

/// Rows that refer to rows that are not there.
pub(crate) fn dangling(conn: &Connection) -> Result<usize> {
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut found = 0;
    while rows.next()?.is_some() {
        found += 1;
    }
    Ok(found)
}

/// Fails when the keyword index does not say what the texts say. Needs the connection that writes, and writes nothing.
pub(crate) fn words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)", [])?;
    Ok(())
}

/// The schema's number.
pub(crate) fn schema(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Bytes of the database as SQLite counts them.
pub(crate) fn size(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get(0),
    )?)
}

/// Takes a text out of the keyword index behind its back.
#[cfg(test)]
pub(crate) fn spoil_words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rowid, content) SELECT 'delete', seq, content FROM memories LIMIT 1", [])?;
    Ok(())
}
