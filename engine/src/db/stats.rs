//! Counts of the store, and what `stats` reads beside the counts of the index.

use crate::db::{connection, memory_row};
use crate::error::Result;
use crate::model::counts::MemoryCounts;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use loci_proto::memory::{MemoryType, Scope};
use loci_proto::requests::stats::StatsReply;
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::collections::BTreeMap;

/// Whether a memory belongs to the groups of a JSON array, in which `""` is no group; all memories
/// without an array.
const IN_GROUPS: &str =
    "(?1 IS NULL OR coalesce(source_group, '') IN (SELECT value FROM json_each(?1)))";

/// Counts the memories of the whole store, or those that these groups stored; `""` is no group.
pub(crate) fn count(
    conn: &Connection,
    groups: Option<&[String]>,
    set: &str,
    now: Timestamp,
) -> Result<StatsReply> {
    let groups = groups.map(|groups| serde_json::json!(groups).to_string());
    let groups = groups.as_deref();
    let count_where = |condition: &str| -> Result<u64> {
        let sql = format!("SELECT count(*) FROM memories m WHERE {IN_GROUPS} AND {condition}");
        Ok(conn
            .prepare_cached(&sql)?
            .query_row([groups], |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)?)
    };
    let active = count_where("status = 'active'")?;
    let not_active = count_where("status <> 'active'")?;
    let times = format!(
        "SELECT min(created_at), max(created_at) FROM memories WHERE status = 'active' AND {IN_GROUPS}"
    );
    let (oldest, newest): (Option<i64>, Option<i64>) =
        conn.prepare_cached(&times)?.query_row([groups], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(StatsReply {
        total_memories: active + not_active,
        active_memories: active,
        superseded_memories: not_active,
        by_type: count_by(conn, "type", &["episodic", "semantic", "procedural", "entity"], groups)?,
        by_scope: count_by(conn, memory_row::SCOPE, &["global", "group"], groups)?,
        entity_relations: relations(conn, groups)?,
        db_size_bytes: size(conn)?,
        oldest_memory: oldest.map(|ms| Timestamp(ms).iso()),
        newest_memory: newest.map(|ms| Timestamp(ms).iso()),
        forgotten: count_where("status = 'forgotten'")?,
        compacted: count_where("status = 'compacted'")?,
        candidates: count_where("status = 'candidate'")?,
        rejected: count_where("status = 'rejected'")?,
        expired: count_where(&format!("status = 'active' AND expires_at <= {}", now.0))?,
        flagged: 0,
        without_vector: without_vector(conn, groups, set)?,
        default_scopes: BTreeMap::new(),
        isolated: false,
        off: None,
        degraded: loci_proto::degraded::Degraded::default(),
    })
}

/// Returns the size of the database in bytes, and the times at which the first and the last active
/// memory of the given days was stored, in the whole store or by these groups; `""` is no group.
///
/// The days bound the search in the order of `created_at`.
pub(crate) fn size_and_times(
    conn: &Connection,
    groups: Option<&[String]>,
    days: Option<(i32, i32)>,
) -> Result<(u64, Option<(Timestamp, Timestamp)>)> {
    let Some((first, last)) = days else { return Ok((size(conn)?, None)) };
    let groups = groups.map(|groups| serde_json::json!(groups).to_string());
    let bound = |condition: &str, order: &str, at: Timestamp| -> Result<Option<Timestamp>> {
        let sql = format!(
            "SELECT created_at FROM memories WHERE status = 'active' AND {IN_GROUPS}
             AND created_at {condition} ?2 ORDER BY created_at {order} LIMIT 1"
        );
        let read = |row: &Row<'_>| row.get(0).map(Timestamp);
        Ok(conn.prepare_cached(&sql)?.query_row((groups.as_deref(), at.0), read).optional()?)
    };
    let oldest = bound(">=", "ASC", Timestamp::start_of_day(first))?;
    let newest = bound("<", "DESC", Timestamp::start_of_day(last + 1))?;
    Ok((size(conn)?, oldest.zip(newest)))
}

/// Counts the memories of each group in one pass; `None` is the group of those without one. A
/// damaged value counts in no class.
pub(crate) fn by_group(conn: &Connection) -> Result<BTreeMap<Option<String>, MemoryCounts>> {
    let sql = format!(
        "SELECT source_group, type, {}, status, count(*) FROM memories GROUP BY 1, 2, 3, 4",
        memory_row::SCOPE
    );
    let mut counts: BTreeMap<Option<String>, MemoryCounts> = BTreeMap::new();
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number = row.get::<_, i64>(4)?.cast_unsigned();
        let text = |column| row.get::<_, String>(column).unwrap_or_default();
        let (kind, scope) = (text(1), text(2));
        let of_group = counts.entry(row.get(0).unwrap_or_default()).or_default();
        of_group.total += number;
        match Status::parse(&text(3)) {
            Some(Status::Active) => {
                of_group.active += number;
                let kind = MemoryType::ALL.iter().position(|known| known.as_str() == kind);
                let scope = Scope::ALL.iter().position(|known| known.as_str() == scope);
                if let (Some(kind), Some(scope)) = (kind, scope) {
                    of_group.by_type[kind] += number;
                    of_group.by_scope[scope] += number;
                }
            }
            Some(Status::Forgotten) => of_group.forgotten += number,
            Some(Status::Compacted) => of_group.compacted += number,
            Some(Status::Candidate) => of_group.candidates += number,
            Some(Status::Rejected) => of_group.rejected += number,
            Some(Status::Superseded) | None => {}
        }
    }
    Ok(counts)
}

/// Counts active memories.
pub(crate) fn active(conn: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM memories WHERE status = 'active'
        AND ifnull(source_group, '') NOT IN (SELECT group_id FROM isolated_groups)";
    Ok(conn
        .prepare_cached(sql)?
        .query_row([], |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)?)
}

/// Counts active memories by the values of a column; values without a memory have count 0.
fn count_by(
    conn: &Connection,
    column: &str,
    values: &[&str],
    groups: Option<&str>,
) -> Result<BTreeMap<String, u64>> {
    let sql = format!(
        "SELECT {column}, count(*) FROM memories WHERE status = 'active' AND {IN_GROUPS} GROUP BY 1"
    );
    let mut counts: BTreeMap<String, u64> =
        values.iter().map(|value| ((*value).to_owned(), 0)).collect();
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([groups], |row| Ok((row.get(0).ok(), row.get::<_, i64>(1)?)))?;
    for row in rows {
        // A damaged row has no valid value.
        if let (Some(value), count) = row?
            && let Some(known) = counts.get_mut::<String>(&value)
        {
            *known = count.cast_unsigned();
        }
    }
    Ok(counts)
}

fn relations(conn: &Connection, groups: Option<&str>) -> Result<u64> {
    let sql = "SELECT count(*) FROM entity_relations r JOIN memories s ON s.id = r.subject_id JOIN memories o ON o.id = r.object_id
               WHERE s.status = 'active' AND o.status = 'active' AND (?1 IS NULL OR coalesce(s.source_group, '') IN (SELECT value FROM json_each(?1)))";
    Ok(conn
        .prepare_cached(sql)?
        .query_row([groups], |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)?)
}

fn without_vector(conn: &Connection, groups: Option<&str>, set: &str) -> Result<u64> {
    let sql = format!(
        "SELECT count(*) FROM memories m WHERE status = 'active' AND {IN_GROUPS}
         AND NOT EXISTS (SELECT 1 FROM memory_pieces p WHERE p.memory = m.seq AND p.model = ?2)"
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_row((groups, set), |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)?)
}

fn size(conn: &Connection) -> Result<u64> {
    let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
    Ok(pages.cast_unsigned() * u64::from(connection::page_size(conn)?))
}
