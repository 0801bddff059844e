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

/// The group that a name means: its id, an alias, the display name of `own`, else a group of that name.
///
/// The display name of any other project is no way to it: a folder can be given any name.
pub(crate) fn resolve(conn: &Connection, name: &GroupName, own: Option<&Group>) -> Result<Group> {
    let known = conn
        .prepare_cached(
            "SELECT g.id, g.name FROM groups g WHERE g.id = ?1
             UNION ALL SELECT g.id, g.name FROM group_aliases a JOIN groups g ON g.id = a.group_id WHERE a.alias = ?1
             LIMIT 1",
        )?
        .query_row([name.as_str()], |row| Ok(Group { id: row.get(0)?, name: row.get(1)? }))
        .optional()?;
    let own = own.filter(|own| own.name == name.as_str());
    Ok(known.or_else(|| own.cloned()).unwrap_or_else(|| Group::named(name)))
}

/// The display name of a group.
pub(crate) fn name(conn: &Connection, id: &str) -> Result<Option<String>> {
    Ok(conn.prepare_cached("SELECT name FROM groups WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()?)
}
