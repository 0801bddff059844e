//! Which memories have metadata that a test accepts. The index does not keep metadata.

use crate::db::damage::{self, Source};
use crate::db::memory_row::metadata;
use crate::error::Result;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Returns the memories, of every status, that have one of these fields and pass the test.
pub(crate) fn seqs_with(
    conn: &Connection,
    fields: &[&str],
    accepts: impl Fn(&Map<String, Value>) -> bool,
) -> Result<HashSet<i64>> {
    // Only rows with such a field are parsed.
    let has_field: Vec<String> =
        fields.iter().map(|field| format!("instr(metadata, '\"{field}\"') > 0")).collect();
    let sql = format!("SELECT seq, id, metadata FROM memories WHERE {}", has_field.join(" OR "));
    let mut statement = conn.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, metadata(row, 2)?));
    let mut found = HashSet::new();
    damage::reading(conn, Source::memories(0, 1)).each(
        &mut statement,
        [],
        read,
        |(seq, metadata)| {
            if accepts(&metadata) {
                found.insert(seq);
            }
            Ok(())
        },
    )?;
    Ok(found)
}
