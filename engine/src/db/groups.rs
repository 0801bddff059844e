//! Rows of `groups` and `group_aliases`.

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::time::Timestamp;
use crate::text::same_letters;
use loci_proto::error::Failure;
use loci_proto::group::{self, Group, GroupName};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Inserts a group unless it exists.
pub(crate) fn ensure(conn: &Connection, group: &Group, now: Timestamp) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO groups(id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT(id) DO NOTHING",
    )?
    .execute((&group.id, &group.name, now.0))?;
    Ok(())
}

/// Returns the new group of a name.
///
/// # Errors
/// `invalid` at `group` for a name that no new group may have.
pub(crate) fn new_named(name: &GroupName) -> Result<Group> {
    group::check_name(name.as_str())
        .map_err(|reason| Failure::invalid("group", reason).hint(group::NAME_HINT))?;
    Ok(Group::named(name))
}

/// Returns the group with this id or alias, in whichever form its letters with marks are written.
pub(crate) fn find(conn: &Connection, name: &GroupName) -> Result<Option<Group>> {
    let found = find_exact(conn, name.as_str())?;
    if found.is_some() || name.as_str().is_ascii() {
        return Ok(found);
    }
    let wanted = same_letters::composed(name.as_str());
    let mut statement = conn
        .prepare_cached("SELECT id FROM groups UNION SELECT alias FROM group_aliases ORDER BY 1")?;
    // A damaged name is left out.
    let known = statement.query_map([], |row| Ok(row.get::<_, String>(0).ok()))?;
    for known in known {
        if let Some(known) = known?.filter(|known| same_letters::composed(known) == wanted) {
            return find_exact(conn, &known);
        }
    }
    Ok(None)
}

fn find_exact(conn: &Connection, name: &str) -> Result<Option<Group>> {
    Ok(conn
        .prepare_cached(
            "SELECT g.id, g.name FROM groups g WHERE g.id = ?1
             UNION ALL SELECT g.id, g.name FROM group_aliases a JOIN groups g ON g.id = a.group_id WHERE a.alias = ?1
             LIMIT 1",
        )?
        .query_row([name], |row| damage::reading(conn, SOURCE).row(row, read))
        .optional()?
        .flatten())
}

/// Returns the display name of a group.
pub(crate) fn name(conn: &Connection, id: &str) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached("SELECT id, name FROM groups WHERE id = ?1")?
        .query_row([id], |row| damage::reading(conn, SOURCE).row(row, read))
        .optional()?
        .flatten()
        .map(|group| group.name))
}

/// The id is the first column.
const SOURCE: Source = Source::named("project");

/// Reads id and name from the first columns.
fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Group> {
    Ok(Group { id: row.get(0)?, name: row.get(1)? })
}

/// Returns id and display name of every group.
pub(crate) fn names(conn: &Connection) -> Result<Vec<Group>> {
    let mut statement = conn.prepare_cached("SELECT id, name FROM groups ORDER BY id")?;
    let mut names = Vec::new();
    damage::reading(conn, SOURCE).each(&mut statement, [], read, |group| {
        names.push(group);
        Ok(())
    })?;
    Ok(names)
}

/// Returns the display names and aliases of all groups, by which a person can name them.
pub(crate) fn names_and_aliases(conn: &Connection) -> Result<Vec<String>> {
    let mut known: Vec<String> = names(conn)?.into_iter().map(|group| group.name).collect();
    let mut statement = conn.prepare_cached("SELECT alias FROM group_aliases ORDER BY alias")?;
    // A damaged name is left out.
    let aliases = statement.query_map([], |row| Ok(row.get::<_, String>(0).ok()))?;
    for alias in aliases {
        known.extend(alias?);
    }
    Ok(known)
}

/// A group with its aliases and the numbers of its memories.
#[derive(Debug, Clone)]
pub(crate) struct GroupRow {
    pub id: String,
    pub name: String,
    pub aliases: Vec<String>,
    /// Number of active memories.
    pub active: usize,
    /// Number of memories, whatever their status.
    pub memories: usize,
}

/// Returns every group, ordered by name.
pub(crate) fn all(conn: &Connection) -> Result<Vec<GroupRow>> {
    let mut statement = conn.prepare_cached("SELECT id, name FROM groups ORDER BY name, id")?;
    let mut groups = Vec::new();
    damage::reading(conn, SOURCE).each(&mut statement, [], read, |group| {
        groups.extend(one(conn, &group.id)?);
        Ok(())
    })?;
    Ok(groups)
}

/// Returns one group.
pub(crate) fn one(conn: &Connection, id: &str) -> Result<Option<GroupRow>> {
    let aliases = conn
        .prepare_cached("SELECT alias FROM group_aliases WHERE group_id = ?1 ORDER BY alias")?
        .query_map([id], |row| Ok(row.get(0).ok()))?
        .collect::<Result<Vec<Option<String>>, _>>()?;
    let aliases: Vec<String> = aliases.into_iter().flatten().collect();
    let sql = "SELECT g.id, g.name, count(m.seq) FILTER (WHERE m.status = 'active'), count(m.seq)
               FROM groups g LEFT JOIN memories m ON m.source_group = g.id WHERE g.id = ?1 GROUP BY g.id";
    let read = |row: &rusqlite::Row<'_>| {
        let count =
            |column| row.get(column).map(|count: i64| usize::try_from(count).unwrap_or_default());
        Ok(GroupRow {
            id: row.get(0)?,
            name: row.get(1)?,
            active: count(2)?,
            memories: count(3)?,
            aliases: aliases.clone(),
        })
    };
    Ok(conn.prepare_cached(sql)?.query_row([id], read).optional()?)
}

/// Returns the memories of a group, oldest first, whatever their status.
pub(crate) fn members(conn: &Connection, id: &str) -> Result<Vec<i64>> {
    let mut statement =
        conn.prepare_cached("SELECT seq FROM memories WHERE source_group = ?1 ORDER BY seq")?;
    let rows = statement.query_map([id], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the group of each alias that is not itself the id of a group.
pub(crate) fn group_redirects(conn: &Connection) -> Result<HashMap<String, Group>> {
    let sql = "SELECT a.alias, g.id, g.name FROM group_aliases a JOIN groups g ON g.id = a.group_id
               WHERE NOT EXISTS (SELECT 1 FROM groups o WHERE o.id = a.alias)";
    let mut statement = conn.prepare_cached(sql)?;
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Group { id: row.get(1)?, name: row.get(2)? }));
    let mut redirects = HashMap::new();
    let source = Source::named("alias");
    damage::reading(conn, source).each(&mut statement, [], read, |(alias, group)| {
        redirects.insert(alias, group);
        Ok(())
    })?;
    Ok(redirects)
}
