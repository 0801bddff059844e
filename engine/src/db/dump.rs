//! Dumps the rows of memories, relations and groups as text, so that tests can compare stores.

use crate::db::connection;
use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::fmt::Write as _;
use std::path::Path;

/// Every other table with rows of its own; `meta` counts starts and checkpoints, which differ.
const RECORDS: [&str; 10] = [
    "memory_log",
    "journal",
    "idempotency",
    "tombstones",
    "mentions",
    "clusters",
    "memory_pieces",
    "vector_sets",
    "word_codes",
    "known_answers",
];

const TABLES: [&str; 14] = [
    "memories",
    "memory_variants",
    "memory_sources",
    "entity_relations",
    "relation_evidence",
    "group_aliases",
    "groups",
    "isolated_groups",
    "kept_pairs",
    "wishes",
    "folders",
    "group_switches",
    "folder_switches",
    "incognito_sessions",
];

/// Dumps all tables in row order.
pub(crate) fn all(conn: &Connection) -> Result<String> {
    tables(conn, &TABLES)
}

/// Dumps what every call has left, so that two runs of the same calls give the same text: ids are
/// numbered in the order in which they occur, and hashes of ids are left out.
pub(crate) fn without_ids(conn: &Connection) -> Result<String> {
    let text = tables(conn, &TABLES)? + &tables(conn, &RECORDS)?;
    let is_part = |character: char| character.is_ascii_hexdigit() || character == '-';
    let (mut named, mut ids, mut rest) = (String::new(), Vec::new(), text.as_str());
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (token, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        named.push_str(before);
        if token.len() == 36 && token.matches('-').count() == 4 {
            let at = ids.iter().position(|id| *id == token).unwrap_or(ids.len());
            if at == ids.len() {
                ids.push(token);
            }
            let _ = write!(named, "id{at}");
        } else if before.ends_with('.') {
            named.push_str(token);
        } else {
            let is_hash = |part: &str| part.len() == 16 || part.len() == 32;
            let parts = token.split('-').map(|part| if is_hash(part) { "hash" } else { part });
            named.push_str(&parts.collect::<Vec<_>>().join("-"));
        }
        rest = after;
    }
    Ok(named + rest)
}

/// Returns the result of SQLite's whole check.
pub(crate) fn integrity(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))?)
}

/// Adds memories to a database of the first schema: an entity and a text that names it.
pub(crate) fn fill_first_schema(conn: &Connection) -> Result<()> {
    for (number, kind, text, metadata) in [
        (1, "entity", "Anna is the lead engineer", r#"{"name":"Anna"}"#),
        (2, "semantic", "The garden of Anna has a pond", "{}"),
    ] {
        let id = format!("01953a2b-7c1e-7000-8000-00000000000{number}");
        conn.execute(
            "INSERT INTO memories(id, type, content, confidence_at, created_at, updated_at, metadata, content_hash)
             VALUES (?1, ?2, ?3, 0, 0, 0, ?4, ?5)",
            (id, kind, text, metadata, crate::duplicate::content_hash::hash(text)),
        )?;
    }
    Ok(())
}

/// Moves the log of a closed database into the file and empties it; nothing is recorded.
pub(crate) fn empty_log(path: &Path) {
    let conn = Connection::open(path).expect("the database opens");
    connection::truncate_log(&conn).expect("the log is emptied");
}

/// Begins a read transaction, which keeps checkpoints from moving what is committed after it.
pub(crate) fn begin_read(conn: &Connection) {
    conn.execute_batch("BEGIN; SELECT count(*) FROM meta").expect("a read transaction begins");
}

/// Counts the rows of a table.
pub(crate) fn count(conn: &Connection, table: &str) -> usize {
    let count: i64 = conn
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
        .expect("the table is readable");
    usize::try_from(count).expect("the count fits")
}

/// Dumps tables in row order.
fn tables(conn: &Connection, tables: &[&str]) -> Result<String> {
    let mut text = String::new();
    for table in tables {
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

/// Returns the number of the first page with rows of `memories`.
#[cfg(feature = "encrypted")]
pub(crate) fn first_leaf_of_memories(conn: &Connection) -> usize {
    let sql =
        "SELECT pageno FROM dbstat WHERE name = 'memories' AND pagetype = 'leaf' ORDER BY path";
    let number: u32 = conn.query_row(sql, [], |row| row.get(0)).expect("there is a page");
    number as usize
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
