//! Rows of `memory_log`: what happened to each memory, and who did it. Never a memory's text.

use crate::error::Result;
use crate::{Actor, time::Timestamp};
use rusqlite::Connection;
use serde_json::Value;

/// What happened, in the words of the table's check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Supersede,
    Merge,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Supersede => "supersede",
            Self::Merge => "merge",
        }
    }
}

/// What one line says.
pub(crate) struct Line<'a> {
    pub operation: Operation,
    pub memory: &'a str,
    pub details: &'a Value,
}

/// Writes one line of the audit log.
pub(crate) fn write(conn: &Connection, actor: &Actor, now: Timestamp, line: &Line<'_>) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO memory_log(operation, memory_id, details, client, session, group_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute((
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
