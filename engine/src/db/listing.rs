//! Lists memories: all of them, or those that a partial id matches.

use crate::db::damage;
use crate::db::memory_row::{COLUMNS, SOURCE, intact_memories, read_memory};
use crate::error::Result;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::model::visibility::{Audience, Visibility};
use loci_proto::memory::Scope;
use rusqlite::{Connection, OptionalExtension as _};

/// Passes every memory to `each`, newest first.
pub(crate) fn newest_first(conn: &Connection, mut each: impl FnMut(Memory)) -> Result<()> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories ORDER BY seq DESC"))?;
    damage::reading(conn, SOURCE).each(&mut statement, [], read_memory, |memory| {
        each(memory);
        Ok(())
    })
}

/// A place in the order of the list: time of storing, then number.
pub(crate) type StoredAt = (Timestamp, i64);

/// Returns at most `limit` memories after `place` in the order of their times of storing, newest first.
pub(crate) fn newest_before(
    conn: &Connection,
    place: StoredAt,
    limit: usize,
) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE (created_at, seq) < (?1, ?2) ORDER BY created_at DESC, seq DESC LIMIT ?3"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = conn.prepare_cached(&sql)?;
    intact_memories(conn, &mut statement, (place.0.0, place.1, limit))
}

/// Returns the place of a memory in that order, or of the nearest one that was stored before it if it is gone.
pub(crate) fn place(conn: &Connection, seq: i64) -> Result<Option<StoredAt>> {
    let sql = "SELECT created_at FROM memories WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1";
    let created: Option<i64> =
        conn.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional()?;
    Ok(created.map(|created| (Timestamp(created), seq)))
}

/// What a brief has first, as SQL tells it; no number of memories of another kind pushes one out. From four uses on a memory counts as used.
const KIND: &str = r#"CASE
    WHEN instr(metadata, '"source_gone"') THEN 0
    WHEN pinned = 1 OR instr(metadata, '"unasked"') THEN 1
    WHEN instr(metadata, '"category":"rule"') THEN 2
    WHEN instr(metadata, '"category":"preference"') THEN 3
    WHEN type = 'procedural' OR instr(metadata, '"category":"procedure"') THEN 4
    WHEN instr(metadata, '"category":"state"') THEN 5
    WHEN access_count > 3 THEN 6
    ELSE 7 END"#;

/// Returns active memories of a group, newest first: at most `limit` of each kind.
pub(crate) fn for_brief(conn: &Connection, group: &str, limit: usize) -> Result<Vec<Memory>> {
    newest_of_kinds(conn, ("source_group = ?1", KIND), group, limit)
}

/// Returns active memories that other groups share, newest first: at most `limit` of each kind.
pub(crate) fn global_of_others(
    conn: &Connection,
    group: &str,
    limit: usize,
) -> Result<Vec<Memory>> {
    let kind = format!(
        r#"CASE WHEN instr(metadata, '"declared_scope"') THEN 8 WHEN origin = 'person' THEN 9 ELSE {KIND} END"#
    );
    newest_of_kinds(conn, ("source_group IS NOT ?1 AND +scope = 'global'", &kind), group, limit)
}

fn newest_of_kinds(
    conn: &Connection,
    (groups, kind): (&str, &str),
    group: &str,
    limit: usize,
) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (
           SELECT seq FROM (SELECT seq, row_number() OVER (PARTITION BY {kind} ORDER BY seq DESC) AS place
             FROM memories WHERE {groups} AND status = 'active') WHERE place <= ?2)
         ORDER BY seq DESC"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = conn.prepare_cached(&sql)?;
    intact_memories(conn, &mut statement, (group, limit))
}

/// Calls `visit` with every id and its sequence number, from the index of ids alone.
pub(crate) fn each_id(
    conn: &Connection,
    mut visit: impl FnMut(&str, i64) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare_cached("SELECT id, seq FROM memories ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A damaged id is no part of any.
        if let (Ok(id), Ok(seq)) = (row.get_ref(0)?.as_str(), row.get(1)) {
            visit(id, seq)?;
        }
    }
    Ok(())
}

/// Returns whether a call may see a memory, without reading its text.
pub(crate) fn is_admitted(conn: &Connection, seq: i64, visibility: &Visibility) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT scope, source_group FROM memories WHERE seq = ?1")?;
    let audience = statement.query_row([seq], |row| {
        Ok((row.get::<_, String>(0).ok(), row.get::<_, Option<String>>(1).ok().flatten()))
    });
    let Some((scope, group)) = audience.optional()? else { return Ok(false) };
    let scope: Option<Scope> = scope.and_then(|scope| scope.parse().ok());
    Ok(scope.is_some_and(|scope| visibility.admits(Audience::new(scope, group.as_deref()))))
}

/// Returns the memories whose id begins or ends with `part` (hexadecimal digits and hyphens only),
/// newest first.
pub(crate) fn by_partial_id(conn: &Connection, part: &str, limit: usize) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (
           SELECT seq FROM memories WHERE id LIKE ?1 || '%' OR id LIKE '%' || ?1 ORDER BY +seq DESC LIMIT ?2)
         ORDER BY seq DESC"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    intact_memories(conn, &mut statement, (part, limit))
}
