//! Copies the database to a file, checks such a copy, and empties a store.

use crate::db::{connection, health, lexical, memories, vectors};
use crate::error::Result;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use std::path::Path;

/// Every table with stored data, each before the tables that it refers to.
const TABLES: [&str; 15] = [
    "known_answers",
    "relation_evidence",
    "entity_relations",
    "mentions",
    "memory_sources",
    "memory_variants",
    "memory_pieces",
    "memories",
    "memory_log",
    "journal",
    "idempotency",
    "tombstones",
    "clusters",
    "group_aliases",
    "groups",
];

/// Writes a copy of the database into an empty file.
pub(crate) fn copy(conn: &Connection, into: &Path) -> Result<()> {
    conn.execute("VACUUM INTO ?1", [into.to_string_lossy()])?;
    Ok(())
}

/// Checks every page of a copy; returns the number of its memories.
pub(crate) fn check(path: &Path) -> Result<usize> {
    let conn = connection::reader(path)?;
    health::check(&conn, path)?;
    memories::count(&conn)
}

/// Returns whether a copy contains a memory.
pub(crate) fn contains(path: &Path, id: &MemoryId) -> Result<bool> {
    let conn = connection::reader(path)?;
    Ok(conn.prepare("SELECT 1 FROM memories WHERE id = ?1")?.exists([id.as_str()])?)
}

/// Deletes all stored data. Row numbers are not assigned a second time.
pub(crate) fn delete_all(conn: &Connection) -> Result<()> {
    let _triggers_off = lexical::TriggersOff::begin(conn)?;
    lexical::delete_all(conn)?;
    vectors::delete_all(conn)?;
    for table in TABLES {
        conn.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}
