//! What maintenance reads and records: episodes without their texts, processed clusters (rows of
//! `clusters`).
//!
//! Not here: which episodes belong together (`maintain`).

use crate::db::memories::{COLUMNS, read};
use crate::error::Result;
use crate::maintain::PeriodKind;
use crate::model::decay::Anchor;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time;
use crate::model::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryId, Scope};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Map, Value};

/// Why a cluster was processed; the values of the table's check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterKind {
    Compact,
    Promote,
}

impl ClusterKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Promote => "promote",
        }
    }
}

/// Returns whether a key was processed before, whatever became of the result.
pub(crate) fn is_processed(conn: &Connection, key: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM clusters WHERE key = ?1")?.exists([key])?)
}

/// Records a processed key. It is not part of the undoable act: an undone cluster is not processed
/// again by itself.
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
    /// Time of the event: `metadata.event_date`, else the creation time.
    pub at: Timestamp,
    pub created_at: Timestamp,
    pub access_count: i64,
    /// Hash of the normalised text.
    pub hash: Vec<u8>,
    pub expires_at: Option<Timestamp>,
    /// Created by maintenance: a summary or a promoted fact.
    pub made: bool,
    /// A fact was promoted from it before.
    pub promoted: bool,
    /// A summary covers it, or covered it before it was restored.
    pub is_summarised: bool,
    /// For a summary by maintenance or an agent: the kind of period it covers.
    pub span: Option<PeriodKind>,
}

const EPISODES: &str = "SELECT m.seq, m.id, coalesce(m.source_group, ''), m.scope, m.status, m.confidence, m.confidence_at, m.pinned,
       m.created_at, m.access_count, m.content_hash, json_extract(m.metadata, '$.event_date'), m.expires_at,
       coalesce(json_extract(m.metadata, '$.summary') = 1 OR json_extract(m.metadata, '$.promoted') = 1, 0),
       EXISTS (SELECT 1 FROM memory_sources s JOIN memories p ON p.seq = s.memory WHERE s.source = m.seq AND p.type = 'semantic')
       OR EXISTS (SELECT 1 FROM clusters c WHERE c.key = 'promote/' || m.id),
       CASE WHEN json_extract(m.metadata, '$.summary') = 1 THEN m.metadata END,
       EXISTS (SELECT 1 FROM memory_sources s JOIN memories p ON p.seq = s.memory WHERE s.source = m.seq AND p.type = 'episodic'
               AND p.status <> 'forgotten')
     FROM memories m WHERE m.type = 'episodic'";

/// Returns active and compacted episodes in storage order.
pub(crate) fn episodes(conn: &Connection) -> Result<Vec<Episode>> {
    let mut statement = conn.prepare_cached(&format!(
        "{EPISODES} AND m.status IN ('active', 'compacted') ORDER BY m.seq"
    ))?;
    let rows = statement.query_map([], episode)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns one episode in its current state, whatever its status.
pub(crate) fn episode_of(conn: &Connection, seq: i64) -> Result<Option<Episode>> {
    Ok(conn
        .prepare_cached(&format!("{EPISODES} AND m.seq = ?1"))?
        .query_row([seq], episode)
        .optional()?)
}

fn episode(row: &Row<'_>) -> rusqlite::Result<Episode> {
    let id: String = row.get(1)?;
    let scope: String = row.get(3)?;
    let status: String = row.get(4)?;
    let created_at = Timestamp(row.get(8)?);
    let summary: Option<Map<String, Value>> =
        row.get::<_, Option<String>>(15)?.and_then(|text| serde_json::from_str(&text).ok());
    let date: Option<String> = row.get::<_, Option<String>>(11).unwrap_or_default();
    Ok(Episode {
        seq: row.get(0)?,
        id: id.parse().map_err(|e| bad(1, e))?,
        group: row.get(2)?,
        scope: scope.parse().map_err(|e| bad(3, e))?,
        status: if status == "active" {
            Status::Active
        } else {
            Status::parse(&status).unwrap_or(Status::Forgotten)
        },
        anchor: Anchor {
            confidence: Confidence::new(row.get(5)?).map_err(|e| bad(5, e))?,
            at: Timestamp(row.get(6)?),
            pinned: row.get(7)?,
        },
        at: date.as_deref().and_then(time::moment_of).unwrap_or(created_at),
        created_at,
        access_count: row.get(9)?,
        hash: row.get(10)?,
        expires_at: row.get::<_, Option<i64>>(12)?.map(Timestamp),
        made: row.get(13)?,
        promoted: row.get(14)?,
        is_summarised: row.get(16)?,
        span: summary.and_then(|metadata| PeriodKind::of(&metadata).map(|(span, _)| span)),
    })
}

fn bad(column: usize, why: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, why.into())
}

/// Returns the active summaries of a project, newest first.
pub(crate) fn summaries(conn: &Connection, group: &str) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE source_group = ?1 AND type = 'episodic' AND status = 'active'
         AND json_extract(metadata, '$.summary') = 1 ORDER BY seq DESC"
    ))?;
    let rows = statement.query_map([group], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns active, unpinned memories without an access since `moment`, oldest first.
pub(crate) fn unused_since(conn: &Connection, moment: Timestamp) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'active' AND pinned = 0 AND coalesce(last_accessed, created_at) <= ?1 ORDER BY seq"
    ))?;
    let rows = statement.query_map([moment.0], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns memories that were forgotten for this reason before a time, oldest first.
pub(crate) fn forgotten_before(
    conn: &Connection,
    reason: &str,
    moment: Timestamp,
    limit: usize,
) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'forgotten' AND forgotten_reason = ?1 AND status_at < ?2 ORDER BY seq LIMIT ?3"
    ))?;
    let rows =
        statement.query_map((reason, moment.0, i64::try_from(limit).unwrap_or(i64::MAX)), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns active semantic memories, oldest first.
pub(crate) fn facts(conn: &Connection) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE status = 'active' AND type = 'semantic' ORDER BY seq"
    ))?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the memories that were made from this one, whatever their status.
pub(crate) fn made_from(conn: &Connection, source: i64) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (SELECT memory FROM memory_sources WHERE source = ?1) ORDER BY seq"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([source], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
