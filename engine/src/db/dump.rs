//! Dumps the rows of memories, relations and groups as text, so that tests can compare stores.

use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::fmt::Write as _;

const TABLES: [&str; 7] = [
    "memories",
    "memory_variants",
    "memory_sources",
    "entity_relations",
    "relation_evidence",
    "group_aliases",
    "groups",
];

/// Dumps all tables in row order.
pub(crate) fn all(conn: &Connection) -> Result<String> {
    let mut text = String::new();
    for table in TABLES {
        let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let _ = write!(text, "{table}");
            for column in 0..columns {
                let _ = match row.get_ref(column)? {
                    ValueRef::Text(bytes) => write!(text, " | {}", String::from_utf8_lossy(bytes)),
                    other => write!(text, " | {other:?}"),
                };
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// Returns whether the text occurs in the database file or its write-ahead log.
pub(crate) fn file_contains(path: &std::path::Path, needle: &str) -> bool {
    ["", "-wal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::read(name).is_ok_and(|bytes| {
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    })
}

/// Returns the number of free pages in the file.
pub(crate) fn free_pages(conn: &Connection) -> i64 {
    conn.query_row("PRAGMA freelist_count", [], |row| row.get(0)).expect("the pragma is readable")
}

/// Creates a database with three transactions in its write-ahead log.
pub(crate) fn database_with_log(path: &std::path::Path) -> Connection {
    let conn = Connection::open(path).expect("the database opens");
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE t(x); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);",
    )
    .expect("three transactions are committed");
    conn
}

/// Returns how many frames of the write-ahead log SQLite finds.
pub(crate) fn frames_in_log(conn: &Connection) -> u32 {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
        .expect("the checkpoint runs")
}

/// Changes a text as a faulty disk does: without its hash and the keyword index.
pub(crate) fn change_text(conn: &Connection, seq: i64, text: &str) {
    let _triggers_off = crate::db::lexical::TriggersOff::begin(conn).expect("the option is set");
    conn.execute("UPDATE memories SET content = ?1 WHERE seq = ?2", (text, seq))
        .expect("the row is changed");
}
