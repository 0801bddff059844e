//! Counts of the store.

use crate::db::memory_row;
use crate::error::Result;
use crate::model::time::Timestamp;
use loci_proto::requests::stats::StatsReply;
use rusqlite::Connection;
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
        expired: count_where(&format!("status = 'active' AND expires_at <= {}", now.0))?,
        flagged: 0,
        without_vector: without_vector(conn, groups, set)?,
        default_scopes: BTreeMap::new(),
        isolated: false,
        degraded: loci_proto::degraded::Degraded::default(),
    })
}

/// Counts active memories.
pub(crate) fn active(conn: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM memories WHERE status = 'active'";
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
    let bytes: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok((pages * bytes).cast_unsigned())
}
