//! Rows of `groups` and `group_aliases`.

use crate::error::Result;
use crate::time::Timestamp;
use loci_proto::group::{Group, GroupName};
use rusqlite::{Connection, OptionalExtension};

/// Makes the group known, if it is not.
pub(crate) fn ensure(conn: &Connection, group: &Group, now: Timestamp) -> Result<()> {
    conn.prepare_cached("INSERT INTO groups(id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT(id) DO NOTHING")?.execute((
        &group.id,
        &group.name,
        now.0,
    ))?;
    Ok(())
}

/// The group that a name means: its id, an alias, the display name when only one group has it, else a group of that name.
pub(crate) fn resolve(conn: &Connection, name: &GroupName) -> Result<Group> {
    let row = |row: &rusqlite::Row<'_>| Ok(Group { id: row.get(0)?, name: row.get(1)? });
    let found = conn
        .prepare_cached(
            "SELECT g.id, g.name FROM groups g WHERE g.id = ?1
             UNION ALL SELECT g.id, g.name FROM group_aliases a JOIN groups g ON g.id = a.group_id WHERE a.alias = ?1
             UNION ALL SELECT min(g.id), g.name FROM groups g WHERE g.name = ?1 GROUP BY g.name HAVING count(*) = 1
             LIMIT 1",
        )?
        .query_row([name.as_str()], row)
        .optional()?;
    Ok(found.unwrap_or_else(|| Group::named(name)))
}
