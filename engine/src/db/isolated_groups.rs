//! Rows of `isolated_groups`: the projects that keep their memories to themselves.
//!
//! Not here: what isolation means (`model::visibility`), who may set it (`operations::isolation`).

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::{Connection, Row};

/// The id is the first column.
const SOURCE: Source = Source::named("isolated project");

/// Returns the ids of the isolated groups.
pub(crate) fn all(conn: &Connection) -> Result<Vec<String>> {
    let mut statement =
        conn.prepare_cached("SELECT group_id FROM isolated_groups ORDER BY group_id")?;
    let mut ids = Vec::new();
    let read = |row: &Row<'_>| row.get::<_, String>(0);
    damage::reading(conn, SOURCE).each(&mut statement, [], read, |id| {
        ids.push(id);
        Ok(())
    })?;
    Ok(ids)
}

/// Like [`all`], also for a database of an earlier schema, which has none.
pub(crate) fn all_of_any_schema(conn: &Connection) -> Result<Vec<String>> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE name = 'isolated_groups'";
    if conn.prepare(exists)?.exists([])? { all(conn) } else { Ok(Vec::new()) }
}

/// Marks a group as isolated.
pub(crate) fn insert(conn: &Connection, group: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO isolated_groups(group_id, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((group, now.0))?;
    Ok(())
}

/// Marks a group as not isolated if it was isolated at this time or before.
pub(crate) fn delete(conn: &Connection, group: &str, until: Timestamp) -> Result<()> {
    conn.prepare_cached("DELETE FROM isolated_groups WHERE group_id = ?1 AND since <= ?2")?
        .execute((group, until.0))?;
    Ok(())
}
