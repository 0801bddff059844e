//! Rows of `memory_log`, the audit log: the operations on each memory and their actors. Contains no
//! texts of memories.

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::actor::{Actor, is_of_person};
use crate::model::time::Timestamp;
use loci_proto::memory::{MemoryId, Scope};
use loci_proto::requests::inspect::AuditEntry;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};
use serde_json::{Map, Value};

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Supersede,
    Restore,
    Forget,
    Delete,
    Merge,
    Compact,
    Promote,
    Relate,
    Pin,
    Import,
    Redact,
}

impl Operation {
    /// Returns the value of the column.
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Supersede => "supersede",
            Self::Restore => "restore",
            Self::Forget => "forget",
            Self::Delete => "delete",
            Self::Merge => "merge",
            Self::Compact => "compact",
            Self::Promote => "promote",
            Self::Relate => "relate",
            Self::Pin => "pin",
            Self::Import => "import",
            Self::Redact => "redact",
        }
    }
}

/// The fields of one line.
pub(crate) struct LogEntry<'a> {
    pub operation: Operation,
    pub memory: &'a str,
    pub details: &'a Value,
}

/// Prepares the statement that inserts lines of the audit log.
pub(crate) fn statement(conn: &Connection) -> Result<CachedStatement<'_>> {
    Ok(conn.prepare_cached(
        "INSERT INTO memory_log(operation, memory_id, details, client, session, group_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?)
}

/// Inserts one line of the audit log, using [`statement`].
pub(crate) fn write(
    statement: &mut CachedStatement<'_>,
    actor: &Actor,
    now: Timestamp,
    line: &LogEntry<'_>,
) -> Result<()> {
    statement.execute((
        line.operation.as_str(),
        line.memory,
        line.details.to_string(),
        &actor.client,
        &actor.session,
        &actor.group.id,
        now.0,
    ))?;
    Ok(())
}

/// Returns a page of the log of one memory, newest first: lines older than `before`, at most
/// `limit`.
pub(crate) fn of(
    conn: &Connection,
    memory: &str,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<AuditEntry>> {
    let mut statement = conn.prepare_cached(
        "SELECT id, operation, details, client, session, group_id, created_at FROM memory_log
         WHERE memory_id = ?1 AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3",
    )?;
    let read = |row: &Row<'_>| {
        let details: Option<String> = row.get(2)?;
        Ok(AuditEntry {
            id: row.get(0)?,
            operation: row.get(1)?,
            details: details.and_then(|text| serde_json::from_str(&text).ok()),
            client: row.get(3)?,
            session: row.get(4)?,
            group: row.get(5)?,
            at: Timestamp(row.get(6)?).iso(),
        })
    };
    let params = (memory, before, i64::try_from(limit).unwrap_or(i64::MAX));
    let mut lines = Vec::new();
    damage::reading(conn, Source::numbered("log line")).each(
        &mut statement,
        params,
        read,
        |line| {
            lines.push(line);
            Ok(())
        },
    )?;
    Ok(lines)
}

/// Who changed a memory, and when.
pub(crate) struct Change {
    pub client: Option<String>,
    pub session: Option<String>,
    pub at: Timestamp,
}

/// Returns the last change of a memory between two times, both included, or the first.
pub(crate) fn last_between(
    conn: &Connection,
    memory: &str,
    (since, until): (Timestamp, Timestamp),
    is_first: bool,
) -> Result<Option<Change>> {
    let order = if is_first { "ASC" } else { "DESC" };
    let mut statement = conn.prepare_cached(&format!(
        "SELECT client, session, created_at FROM memory_log
         WHERE memory_id = ?1 AND created_at BETWEEN ?2 AND ?3 ORDER BY id {order} LIMIT 1"
    ))?;
    let read = |row: &Row<'_>| {
        Ok(Change { client: row.get(0)?, session: row.get(1)?, at: Timestamp(row.get(2)?) })
    };
    Ok(statement.query_row((memory, since.0, until.0), read).optional()?)
}

/// Returns whether a person was the last to hide, reject or replace a memory, or to bring it back.
pub(crate) fn is_status_of_person(conn: &Connection, memory: &str) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT client FROM memory_log WHERE memory_id = ?1 AND (operation IN ('forget', 'supersede', 'restore', 'compact')
             OR operation = 'update' AND json_valid(details) AND details ->> '$.rejected' = 1)
         ORDER BY id DESC LIMIT 1",
    )?;
    let read = |row: &Row<'_>| row.get::<_, Option<String>>(0);
    let client = statement.query_row([memory], read).optional()?.flatten();
    Ok(is_of_person(client.as_deref()))
}

/// Returns whether a person has edited or pinned a memory. That they moved it counts as no edit.
pub(crate) fn is_changed_by_person(conn: &Connection, memory: &str) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT client FROM memory_log WHERE memory_id = ?1 AND operation IN ('update', 'pin') AND json_valid(details)
         AND details ->> '$.rejected' IS NULL AND details ->> '$.group' IS NULL",
    )?;
    let mut rows = statement.query([memory])?;
    while let Some(row) = rows.next()? {
        if is_of_person(row.get::<_, Option<String>>(0)?.as_deref()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Who could see a memory that was deleted permanently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeletedFrom {
    pub scope: Scope,
    /// Id of its project.
    pub group: String,
}

/// Returns who could see a deleted memory, from the line of its deletion. A line of an earlier
/// version has only the caller, who could see it too.
pub(crate) fn deleted_from(conn: &Connection, memory: &str) -> Result<Option<DeletedFrom>> {
    let mut statement = conn.prepare_cached(
        "SELECT details, group_id FROM memory_log
         WHERE memory_id = ?1 AND operation = 'delete' ORDER BY id DESC LIMIT 1",
    )?;
    let line = statement.query_row([memory], |row| {
        let text = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
        let details = text(0).and_then(|text| serde_json::from_str(&text).ok());
        let details: Map<String, Value> = details.unwrap_or_default();
        let detail = |name| details.get(name).and_then(Value::as_str);
        let scope = if detail("scope") == Some("global") { Scope::Global } else { Scope::Group };
        let group = detail("group").map(str::to_owned).or_else(|| text(1));
        Ok(group.map(|group| DeletedFrom { scope, group }))
    });
    Ok(line.optional()?.flatten())
}

/// Returns the number of the newest line.
pub(crate) fn last_id(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("SELECT coalesce(max(id), 0) FROM memory_log", [], |row| row.get(0))?)
}

/// Returns the first operation, up to the line `last`, by which another caller than the session
/// built on a memory. Forgetting and undoing do not count.
pub(crate) fn used_by_others(
    conn: &Connection,
    memory: &str,
    session: &str,
    last: i64,
) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT operation FROM memory_log WHERE memory_id = ?1 AND session IS NOT ?2 AND id <= ?3
           AND operation IN ('update', 'supersede', 'merge', 'compact', 'promote', 'relate', 'pin')
           AND json_extract(details, '$.undone') IS NULL
         ORDER BY id LIMIT 1",
    )?;
    Ok(statement.query_row((memory, session, last), |row| row.get(0)).optional()?)
}

/// Returns the memories that a session deleted permanently.
pub(crate) fn hard_deleted_by(conn: &Connection, session: &str) -> Result<Vec<MemoryId>> {
    let mut statement = conn.prepare_cached(
        "SELECT l.memory_id FROM memory_log l JOIN tombstones t ON t.id = l.memory_id
         WHERE l.session = ?1 AND l.operation = 'delete' ORDER BY l.id",
    )?;
    let ids = statement.query_map([session], |row| row.get::<_, String>(0))?;
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

/// Clears the details of a memory's log lines. The operations and actors stay.
pub(crate) fn redact(conn: &Connection, memory: &str) -> Result<()> {
    conn.execute("UPDATE memory_log SET details = NULL WHERE memory_id = ?1", [memory])?;
    Ok(())
}

/// Returns the relations that the log lines of a memory name: the relation, and the memory at its other end.
pub(crate) fn relations_of(conn: &Connection, memory: &str) -> Result<Vec<(String, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT details FROM memory_log WHERE memory_id = ?1 AND operation = 'relate'",
    )?;
    let details = statement.query_map([memory], |row| row.get::<_, Option<String>>(0))?;
    let details: Vec<Option<String>> = details.collect::<rusqlite::Result<_>>()?;
    let ends = details.iter().flatten().filter_map(|details| {
        let fields: Map<String, Value> = serde_json::from_str(details).ok()?;
        let text = |name| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        Some((text("relation")?, text("object").or_else(|| text("subject"))?))
    });
    Ok(ends.collect())
}

/// Clears the details of the line by which a memory got a relation.
pub(crate) fn redact_relation(conn: &Connection, memory: &str, relation: &str) -> Result<()> {
    conn.execute(
        "UPDATE memory_log SET details = NULL
         WHERE memory_id = ?1 AND operation = 'relate' AND instr(details, ?2) > 0",
        [memory, relation],
    )?;
    Ok(())
}

/// Sets the details of every deletion, as an earlier version wrote them.
#[cfg(test)]
pub(crate) fn set_deletion_details(conn: &Connection, details: Option<&str>) {
    let sql = "UPDATE memory_log SET details = ?1 WHERE operation = 'delete'";
    assert_eq!(conn.execute(sql, [details]).expect("the statement runs"), 1);
}
