//! Databases that tests make up, in the shape of those of other programs.

use rusqlite::Connection;
use rusqlite::types::Value;

/// Creates a table.
pub(crate) fn create(conn: &Connection, table: &str, columns: &[&str]) {
    let columns = columns.join(", ");
    conn.execute_batch(&format!("PRAGMA synchronous = OFF; CREATE TABLE {table} ({columns})"))
        .expect("the table is created");
}

/// Adds a row.
pub(crate) fn insert(conn: &Connection, table: &str, cells: &[Value]) {
    let marks = vec!["?"; cells.len()].join(", ");
    conn.execute(
        &format!("INSERT INTO {table} VALUES ({marks})"),
        rusqlite::params_from_iter(cells.iter()),
    )
    .expect("the row is added");
}
