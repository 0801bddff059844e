//! Rows of `journal`: what each act has changed, with what stood there before.
//!
//! Not here: which rows an act keeps (`change`), when an act can be taken back (`undo`).

use crate::db::rows::{Image, Row};
use crate::error::Result;
use crate::model::actor::Actor;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// One row that an act has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Changed {
    /// Which row.
    pub row: Row,
    /// What the act did to it.
    #[serde(flatten)]
    pub how: How,
}

/// What an act did to a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// It was not there before. The fingerprint of what the act made tells whether it was changed since.
    Made(String),
    /// Some columns were changed.
    Set {
        /// What stood there before.
        before: Image,
        /// What the act put there.
        after: Image,
    },
    /// It is not there any more.
    Gone(Image),
}

/// One act.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub id: i64,
    pub act: String,
    pub rows: Vec<Changed>,
    pub client: Option<String>,
    pub session: Option<String>,
    pub group: Option<String>,
    pub at: Timestamp,
    pub undone_at: Option<Timestamp>,
}

/// Writes an act down; its number.
pub(crate) fn write(
    conn: &Connection,
    act: &str,
    rows: &[Changed],
    actor: &Actor,
    now: Timestamp,
) -> Result<i64> {
    let before = serde_json::to_string(rows).unwrap_or_default();
    Ok(conn
        .prepare_cached("INSERT INTO journal(act, before, client, session, group_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .insert((act, before, &actor.client, &actor.session, &actor.group.id, now.0))?)
}

const COLUMNS: &str = "id, act, before, client, session, group_id, created_at, undone_at";

/// One act by its number.
pub(crate) fn by_id(conn: &Connection, id: i64) -> Result<Option<Entry>> {
    Ok(conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM journal WHERE id = ?1"))?
        .query_row([id], read)
        .optional()?)
}

/// Acts, newest first: at most `limit`, older than the act `before`.
pub(crate) fn list(conn: &Connection, before: Option<i64>, limit: usize) -> Result<Vec<Entry>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM journal WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let rows = statement.query_map((before, i64::try_from(limit).unwrap_or(i64::MAX)), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Numbers of the acts that were not taken back, newest first, since a moment.
pub(crate) fn open_since(conn: &Connection, since: Timestamp) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(
        "SELECT id FROM journal WHERE undone_at IS NULL AND created_at >= ?1 ORDER BY id DESC",
    )?;
    let rows = statement.query_map([since.0], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The newest act that was not taken back.
pub(crate) fn last(conn: &Connection) -> Result<Option<i64>> {
    let sql = "SELECT id FROM journal WHERE undone_at IS NULL ORDER BY id DESC LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?)
}

/// Marks an act as taken back.
pub(crate) fn set_undone(conn: &Connection, id: i64, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE journal SET undone_at = ?2 WHERE id = ?1")?.execute((id, now.0))?;
    Ok(())
}

/// Takes everything about a memory out of the journal: its images, and those of its wordings. An act that is empty then goes whole.
pub(crate) fn redact(conn: &Connection, seq: i64, relations: &[String]) -> Result<()> {
    redact_where(conn, |changed| concerns(&changed.row, seq, relations))
}

fn redact_where(conn: &Connection, goes: impl Fn(&Changed) -> bool) -> Result<()> {
    let mut statement = conn.prepare("SELECT id, before FROM journal")?;
    let found = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    for (id, before) in found {
        let mut rows: Vec<Changed> = serde_json::from_str(&before).unwrap_or_default();
        let all = rows.len();
        rows.retain(|changed| !goes(changed));
        match rows.len() {
            left if left == all => {}
            0 => drop(conn.execute("DELETE FROM journal WHERE id = ?1", [id])?),
            _ => {
                let before = serde_json::to_string(&rows).unwrap_or_default();
                conn.execute("UPDATE journal SET before = ?2 WHERE id = ?1", (id, before))?;
            }
        }
    }
    Ok(())
}

/// Takes earlier texts of a memory out of the images: an edit of it cannot be undone any more.
///
/// # Errors
/// `Database`.
pub(crate) fn redact_texts(conn: &Connection, seq: i64) -> Result<()> {
    redact_where(conn, |changed| {
        let of_memory = matches!(changed.row, Row::Memory(memory) if memory == seq);
        of_memory
            && matches!(&changed.how, How::Set { before, .. } if before.contains_key("content"))
    })
}

fn concerns(row: &Row, seq: i64, relations: &[String]) -> bool {
    match row {
        Row::Memory(memory) | Row::Variant(memory, _) => *memory == seq,
        Row::Source(memory, source) => *memory == seq || *source == seq,
        Row::Relation(id) | Row::Evidence(id, _) => relations.contains(id),
        Row::Group(_) | Row::Alias(_) | Row::Tombstone(_) => false,
    }
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    let before: String = row.get(2)?;
    Ok(Entry {
        id: row.get(0)?,
        act: row.get(1)?,
        rows: serde_json::from_str(&before).unwrap_or_default(),
        client: row.get(3)?,
        session: row.get(4)?,
        group: row.get(5)?,
        at: Timestamp(row.get(6)?),
        undone_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
    })
}
