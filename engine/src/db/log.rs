//! Rows of `memory_log`, the audit log: the operations on each memory and their actors. Contains no
//! texts of memories.

use crate::error::Result;
use crate::model::actor::Actor;
use crate::model::time::Timestamp;
use loci_proto::requests::inspect::AuditEntry;
use rusqlite::{CachedStatement, Connection};
use serde_json::Value;

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
    let rows =
        statement.query_map((memory, before, i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
            Ok(AuditEntry {
                id: row.get(0)?,
                operation: row.get(1)?,
                details: row
                    .get::<_, Option<String>>(2)?
                    .and_then(|text| serde_json::from_str(&text).ok()),
                client: row.get(3)?,
                session: row.get(4)?,
                group: row.get(5)?,
                at: Timestamp(row.get(6)?).iso(),
            })
        })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Clears the details of a memory's log lines. The operations and actors stay.
pub(crate) fn redact(conn: &Connection, memory: &str) -> Result<()> {
    conn.execute("UPDATE memory_log SET details = NULL WHERE memory_id = ?1", [memory])?;
    Ok(())
}
