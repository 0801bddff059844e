//! Rows that maintenance reads and writes: episodes without their texts, summaries, facts, and the
//! clusters that were processed (rows of `clusters`).
//!
//! Not here: which episodes belong together (`maintain`).

use crate::db::damage;
use crate::db::memory_row::{
    COLUMNS, SCOPE, SCOPE_OF_M, SOURCE, anchor, check_hash, intact_memories, is_true, metadata,
    parsed, status,
};
use crate::error::Result;
use crate::maintain::PeriodKind;
use crate::model::decay::Anchor;
use crate::model::event_date;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::text::features;
use loci_proto::memory::{MemoryId, Scope};
use rusqlite::{Connection, OptionalExtension, Row};

/// The step that processed a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterKind {
    Compact,
    Promote,
}

impl ClusterKind {
    /// Returns the value of the column.
    fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Promote => "promote",
        }
    }
}

/// Returns whether a cluster was processed before, even if the result was undone.
pub(crate) fn is_processed(conn: &Connection, key: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM clusters WHERE key = ?1")?.exists([key])?)
}

/// Records a processed cluster. Undo keeps the record, so that maintenance does not process the
/// cluster again.
pub(crate) fn insert(
    conn: &Connection,
    key: &str,
    kind: ClusterKind,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO clusters(key, kind, made_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?
    .execute((key, kind.as_str(), now.0))?;
    Ok(())
}

/// An episode without its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Episode {
    pub seq: i64,
    pub id: MemoryId,
    pub group: String,
    pub scope: Scope,
    pub status: Status,
    pub anchor: Anchor,
    /// Time of the event: `metadata.event_date`, else the day that the text names, else the creation
    /// time.
    pub at: Timestamp,
    pub created_at: Timestamp,
    pub access_count: i64,
    /// Hash of the normalised text.
    pub hash: Vec<u8>,
    pub expires_at: Option<Timestamp>,
    /// A summary or a promoted fact, created by maintenance.
    pub is_generated: bool,
    /// A fact was promoted from this episode before.
    pub was_promoted: bool,
    /// A summary covers this episode, or covered it before it was restored.
    pub is_summarised: bool,
    /// The kind of period that a summary covers.
    pub span: Option<PeriodKind>,
    /// It is imported, flagged, or an echo: no evidence for a fact.
    pub is_gated: bool,
    /// Its text names the day of its event, as an entry of a log does.
    pub names_day: bool,
    /// The session in which it was stored, if that is known.
    pub session: Option<String>,
}

/// Returns the query of the episodes that a condition admits.
fn select_episodes(condition: &str) -> String {
    format!(
        "SELECT m.seq, m.id, coalesce(m.source_group, ''), {SCOPE_OF_M} AS scope, m.status, m.confidence, m.confidence_at, m.pinned,
       m.created_at, m.access_count, m.content_hash, m.content, m.expires_at, m.metadata,
       EXISTS (SELECT 1 FROM memory_sources s JOIN memories p ON p.seq = s.memory WHERE s.source = m.seq AND p.type = 'semantic')
       OR EXISTS (SELECT 1 FROM clusters c WHERE c.key = 'promote/' || m.id),
       EXISTS (SELECT 1 FROM memory_sources s JOIN memories p ON p.seq = s.memory WHERE s.source = m.seq AND p.type = 'episodic'
               AND p.status <> 'forgotten'),
       m.trust = 'import' OR m.flags IS NOT NULL OR m.echo, m.session, m.importance
     FROM memories m WHERE m.type = 'episodic' AND {condition}"
    )
}

/// Returns active and compacted episodes in storage order.
pub(crate) fn episodes(conn: &Connection) -> Result<Vec<Episode>> {
    let mut statement = conn
        .prepare_cached(&select_episodes("m.status IN ('active', 'compacted') ORDER BY m.seq"))?;
    let mut episodes = Vec::new();
    damage::reading(conn, SOURCE).each(&mut statement, [], episode, |episode| {
        episodes.push(episode);
        Ok(())
    })?;
    Ok(episodes)
}

/// Returns one episode in its current state, whatever its status.
pub(crate) fn episode_of(conn: &Connection, seq: i64) -> Result<Option<Episode>> {
    Ok(conn
        .prepare_cached(&select_episodes("m.seq = ?1"))?
        .query_row([seq], |row| damage::reading(conn, SOURCE).row(row, episode))
        .optional()?
        .flatten())
}

fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    check_hash(row, 11, 10)?;
    let (created_at, metadata) = (Timestamp(row.get(8)?), metadata(row, 13)?);
    let content: String = row.get(11)?;
    let is_summary = is_true(&metadata, "summary");
    Ok(Episode {
        seq: row.get(0)?,
        id: parsed(row, 1)?,
        group: row.get(2)?,
        scope: parsed(row, 3)?,
        status: status(row, 4)?,
        anchor: anchor(row, 5, [9, 18])?,
        at: event_date::moment(&content, &metadata).unwrap_or(created_at),
        created_at,
        access_count: row.get(9)?,
        hash: row.get(10)?,
        expires_at: row.get::<_, Option<i64>>(12)?.map(Timestamp),
        is_generated: is_summary || is_true(&metadata, "promoted"),
        was_promoted: row.get(14)?,
        is_summarised: row.get(15)?,
        span: PeriodKind::of(&metadata).filter(|_| is_summary).map(|(span, _)| span),
        is_gated: row.get(16)?,
        names_day: features::event_day(&content).is_some(),
        session: row.get(17)?,
    })
}

/// Returns the active summaries of a project, newest first.
pub(crate) fn summaries(conn: &Connection, group: &str) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE source_group = ?1 AND type = 'episodic' AND status = 'active'
         AND metadata LIKE '%summary%' ORDER BY seq DESC"
    ))?;
    let mut memories = intact_memories(conn, &mut statement, [group])?;
    memories.retain(|memory| is_true(&memory.metadata, "summary"));
    Ok(memories)
}

/// Returns active, unpinned memories without an access since `moment`, oldest first.
pub(crate) fn unused_since(conn: &Connection, moment: Timestamp) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'active' AND pinned = 0 AND coalesce(last_accessed, created_at) <= ?1 ORDER BY seq"
    ))?;
    intact_memories(conn, &mut statement, [moment.0])
}

/// Returns at most `limit` memories that were forgotten for this reason before `moment`, oldest
/// first.
pub(crate) fn forgotten_before(
    conn: &Connection,
    reason: &str,
    moment: Timestamp,
    limit: usize,
) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'forgotten' AND forgotten_reason = ?1 AND status_at < ?2 ORDER BY seq LIMIT ?3"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    intact_memories(conn, &mut statement, (reason, moment.0, limit))
}

/// A forgotten memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forgotten {
    pub seq: i64,
    pub id: MemoryId,
    /// The project, by its id; empty if it has none.
    pub group: String,
    pub scope: Scope,
}

/// Forgotten at this time or before. An undo brings back the earlier time of the status, but it is the undo
/// that made the memory forgotten again.
const FORGOTTEN: &str = "status = 'forgotten' AND status_at <= :moment
    AND NOT EXISTS (SELECT 1 FROM memory_log l WHERE l.memory_id = memories.id AND l.operation = 'restore'
                    AND l.created_at > :moment)";

/// Returns the memories that were forgotten at this time or before, by project and scope, in storage
/// order.
pub(crate) fn forgotten_at_or_before(
    conn: &Connection,
    moment: Timestamp,
) -> Result<Vec<Forgotten>> {
    let sql = format!(
        "SELECT seq, id, coalesce(source_group, ''), {SCOPE} FROM memories
         WHERE {FORGOTTEN} ORDER BY 3, 4, seq"
    );
    let read = |row: &Row<'_>| {
        Ok(Forgotten {
            seq: row.get(0)?,
            id: parsed(row, 1)?,
            group: row.get(2)?,
            scope: parsed(row, 3)?,
        })
    };
    let mut forgotten = Vec::new();
    damage::reading(conn, SOURCE).each(&mut conn.prepare(&sql)?, [moment.0], read, |memory| {
        forgotten.push(memory);
        Ok(())
    })?;
    Ok(forgotten)
}

/// Returns whether a memory is forgotten since this time or before.
pub(crate) fn was_forgotten(conn: &Connection, seq: i64, moment: Timestamp) -> Result<bool> {
    let sql = format!("SELECT 1 FROM memories WHERE seq = :seq AND {FORGOTTEN}");
    let params = rusqlite::named_params! {":seq": seq, ":moment": moment.0};
    Ok(conn.prepare_cached(&sql)?.exists(params)?)
}

/// Returns active semantic memories, oldest first.
pub(crate) fn facts(conn: &Connection) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'active' AND type = 'semantic' ORDER BY seq"
    ))?;
    intact_memories(conn, &mut statement, [])
}

/// Returns the memories that were made from this one, whatever their status.
pub(crate) fn made_from(conn: &Connection, source: i64) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (SELECT memory FROM memory_sources WHERE source = ?1) ORDER BY seq"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    intact_memories(conn, &mut statement, [source])
}
