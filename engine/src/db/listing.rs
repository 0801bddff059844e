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

/// What a brief has first, as SQL tells it.
const DECLARED: [&str; 5] = [
    r#"metadata LIKE '%"unasked"%'"#,
    r#"metadata LIKE '%"category":"rule"%'"#,
    r#"metadata LIKE '%"category":"preference"%'"#,
    r#"metadata LIKE '%"category":"procedure"%'"#,
    r#"metadata LIKE '%"category":"state"%'"#,
];

/// Returns active memories of a group, newest first: at most `limit` of each of the pinned ones, of procedures, of what is declared, of the
/// most used, and of all.
pub(crate) fn for_brief(conn: &Connection, group: &str, limit: usize) -> Result<Vec<Memory>> {
    let tests = ["pinned = 1", "type = 'procedural'", "TRUE"].into_iter().chain(DECLARED);
    let mut parts: Vec<String> =
        tests.map(|test| newest_where("source_group = ?1", test)).collect();
    parts.push(
        "SELECT * FROM (SELECT seq FROM memories WHERE source_group = ?1 AND status = 'active' ORDER BY access_count DESC, seq DESC LIMIT ?2)"
            .to_owned(),
    );
    in_parts(conn, &parts, group, limit)
}

/// Returns active memories that other groups share, newest first: at most `limit` of each of those of which it was declared, those that a
/// person stored, and all.
pub(crate) fn global_of_others(
    conn: &Connection,
    group: &str,
    limit: usize,
) -> Result<Vec<Memory>> {
    let tests = [r#"metadata LIKE '%"declared_scope"%'"#, "origin = 'person'", "TRUE"];
    let of_others = "source_group IS NOT ?1 AND +scope = 'global'";
    let tests = tests.into_iter().chain(DECLARED);
    let parts: Vec<String> = tests.map(|test| newest_where(of_others, test)).collect();
    in_parts(conn, &parts, group, limit)
}

fn newest_where(groups: &str, test: &str) -> String {
    format!(
        "SELECT * FROM (SELECT seq FROM memories WHERE {groups} AND status = 'active' AND {test} ORDER BY seq DESC LIMIT ?2)"
    )
}

fn in_parts(conn: &Connection, parts: &[String], group: &str, limit: usize) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN ({}) ORDER BY seq DESC",
        parts.join(" UNION ")
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
