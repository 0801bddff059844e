//! Rows of `hook_events` and `hook_memories`: what hooks delivered and withheld.
//!
//! A memory that is deleted takes its rows with it. Not here: which caller may see which receipt (`operations::injected`).

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::hooks::receipt::{HookReceipt, Outcome, TextVersion};
use crate::model::time::Timestamp;
use rusqlite::{Connection, Row};

/// A row of `hook_events`.
#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    pub id: i64,
    pub session: String,
    pub client: String,
    pub event: String,
    pub at: Timestamp,
    pub group: Option<String>,
    pub outcome: String,
    pub reason: String,
    pub tokens: u64,
}

/// A row of `hook_memories`.
#[derive(Debug, Clone)]
pub(crate) struct MemoryRow {
    pub memory: i64,
    pub withheld: Option<String>,
    /// Its text was changed since the event.
    pub is_edited: bool,
}

/// The counts of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRow {
    pub client: String,
    pub last_event: Option<Timestamp>,
    pub last_delivery: Option<Timestamp>,
    pub delivered: u64,
    pub missed: u64,
}

/// Inserts an event with its memories; those that were deleted meanwhile are left out.
pub(crate) fn insert(conn: &Connection, receipt: &HookReceipt) -> Result<()> {
    let tokens = i64::try_from(receipt.tokens).unwrap_or(i64::MAX);
    conn.prepare_cached(
        "INSERT INTO hook_events(session, client, event, at, group_id, outcome, reason, tokens, brief)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute((
        &receipt.session,
        receipt.client,
        receipt.event,
        receipt.at.0,
        &receipt.group,
        receipt.outcome.as_str(),
        &receipt.reason,
        tokens,
        receipt.brief,
    ))?;
    let event = conn.last_insert_rowid();
    let mut statement = conn.prepare_cached(
        "INSERT OR IGNORE INTO hook_memories(event, memory, withheld, version) SELECT ?1, seq, ?3, coalesce(?4, content_hash) FROM memories WHERE seq = ?2",
    )?;
    for (seq, version) in &receipt.delivered {
        statement.execute((event, seq, None::<&str>, Some(version)))?;
    }
    for (seq, why) in &receipt.withheld {
        statement.execute((event, seq, Some(why.as_str()), None::<TextVersion>))?;
    }
    Ok(())
}

/// Deletes the events from before a time, and the oldest of more than `limit`.
pub(crate) fn bound(conn: &Connection, before: Timestamp, limit: i64) -> Result<()> {
    // Events are in the order of time, so that a look at the oldest is enough.
    let sql = "DELETE FROM hook_events WHERE id <= (SELECT max(id) FROM hook_events) - ?2
                 OR id <= (SELECT max(id) FROM (SELECT id, at FROM hook_events ORDER BY id LIMIT 500) WHERE at < ?1)";
    conn.prepare_cached(sql)?.execute((before.0, limit))?;
    Ok(())
}

/// What a session has been given since its record was last reset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub memories: Vec<(i64, TextVersion)>,
    pub brief: bool,
    pub reminded: bool,
    /// The start of the session did not reach the daemon.
    pub missed_start: bool,
}

/// Returns what a session has been given since its record was last reset, but for texts that only subagents saw, and for memories that say
/// something else since.
pub(crate) fn given(conn: &Connection, session: &str, limit: usize) -> Result<Given> {
    let reset: Option<i64> = conn
        .prepare_cached("SELECT max(id) FROM hook_events WHERE session = ?1 AND outcome = ?2")?
        .query_row((session, Outcome::Reset.as_str()), |row| row.get(0))?;
    let since = reset.unwrap_or_default();
    let mut statement = conn.prepare_cached(
        "SELECT DISTINCT m.memory, t.content_hash FROM hook_events e JOIN hook_memories m ON m.event = e.id JOIN memories t ON t.seq = m.memory
         WHERE e.session = ?1 AND e.id > ?2 AND m.withheld IS NULL AND e.event <> 'subagent-start'
           AND (m.version IS NULL OR m.version = t.content_hash) ORDER BY m.memory DESC LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows =
        statement.query_map((session, since, limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let memories = rows.collect::<rusqlite::Result<Vec<(i64, TextVersion)>>>()?;
    let flags = conn
        .prepare_cached(
            "SELECT coalesce(max(brief AND id > ?2 AND event <> 'subagent-start'), 0), coalesce(max(outcome = 'reminded'), 0),
                    coalesce(max(outcome = 'missed' AND event = 'session-start'), 0)
             FROM hook_events WHERE session = ?1",
        )?
        .query_row((session, since), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let (brief, reminded, missed_start) = flags;
    Ok(Given { memories, brief, reminded, missed_start })
}

/// Of the last sessions of a client, at most `limit` among its latest events, how many there are, and at how many of them a session start reached the daemon.
pub(crate) fn recent_starts(
    conn: &Connection,
    client: &str,
    other_than: &str,
    limit: i64,
) -> Result<(i64, i64)> {
    let sql = "SELECT count(*), coalesce(sum(started), 0) FROM (
                 SELECT max(event = 'session-start' AND outcome <> 'missed') AS started FROM
                   (SELECT * FROM hook_events WHERE client = ?1 AND session NOT IN ('', ?2) ORDER BY id DESC LIMIT 200)
                 GROUP BY session ORDER BY max(id) DESC LIMIT ?3)";
    let counts = conn
        .prepare_cached(sql)?
        .query_row((client, other_than, limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts)
}

/// Returns events, newest first; `session` is the beginning of an id, empty for all.
pub(crate) fn newest(
    conn: &Connection,
    session: &str,
    mut each: impl FnMut(EventRow) -> Result<bool>,
) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "SELECT id, session, client, event, at, group_id, outcome, reason, tokens FROM hook_events
         WHERE substr(session, 1, length(?1)) = ?1 ORDER BY id DESC",
    )?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let read = damage::reading(conn, Source::numbered("receipt")).row(row, read_event)?;
        if let Some(event) = read
            && !each(event)?
        {
            break;
        }
    }
    Ok(())
}

/// Returns the memories of an event.
pub(crate) fn memories_of(conn: &Connection, event: i64) -> Result<Vec<MemoryRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT h.memory, h.withheld, h.version IS NOT NULL AND h.version <> m.content_hash
         FROM hook_memories h JOIN memories m ON m.seq = h.memory WHERE h.event = ?1 ORDER BY h.memory",
    )?;
    let rows = statement.query_map([event], |row| {
        let (memory, withheld) = (row.get(0)?, row.get(1)?);
        Ok(MemoryRow { memory, withheld, is_edited: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the counts of each client since a time.
pub(crate) fn clients(conn: &Connection, since: Timestamp) -> Result<Vec<ClientRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT client, max(CASE WHEN outcome <> 'missed' THEN at END), max(CASE WHEN outcome = 'delivered' THEN at END),
                sum(outcome = 'delivered'), sum(outcome = 'missed')
         FROM hook_events WHERE at >= ?1 GROUP BY client ORDER BY client",
    )?;
    let rows = statement.query_map([since.0], |row| {
        Ok(ClientRow {
            client: row.get(0)?,
            last_event: row.get::<_, Option<i64>>(1)?.map(Timestamp),
            last_delivery: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            delivered: count(row, 3)?,
            missed: count(row, 4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        id: row.get(0)?,
        session: row.get(1)?,
        client: row.get(2)?,
        event: row.get(3)?,
        at: Timestamp(row.get(4)?),
        group: row.get(5)?,
        outcome: row.get(6)?,
        reason: row.get(7)?,
        tokens: count(row, 8)?,
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}
