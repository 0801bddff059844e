//! Rows of `journal`: the rows that each act changed, and their state before it.
//!
//! Not here: which rows an act records (`crate::transaction`), when an act can be undone (`undo`).

use crate::db::rows::{Image, Row};
use crate::error::Result;
use crate::model::actor::Actor;
use crate::model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The act of a store by a person, new or merged. It is listed, and undoing it takes back all of it.
pub(crate) const ADD: &str = "add";
/// The act of an agent's store that was merged with a known memory. It is in no list of acts, because a plain
/// store is none; it is taken back with its session.
pub(crate) const MERGE: &str = "merge";
/// The act of an undo, by which `redo` takes it back. It is in no list of acts.
pub(crate) const UNDO: &str = "undo";
/// The act of a redo. It is in no list of acts; the undo that it takes back is.
pub(crate) const REDO: &str = "redo";
/// The act of a permanent deletion that changed other memories. It is in no list of acts, and nothing
/// takes it back.
pub(crate) const ERASE: &str = "erase";
/// The act of undoing a session. It is listed, and can be undone and redone.
pub(crate) const UNDO_SESSION: &str = "undo-session";

/// The acts that record changes for [`changes_after`] alone.
const RECORDS: &str = "'redo', 'erase'";

/// One row that an act changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowChange {
    pub row: Row,
    #[serde(flatten)]
    pub effect: RowEffect,
}

/// How an act changed a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowEffect {
    /// Inserted, with a fingerprint of the row, by which undo detects a later change.
    #[serde(rename = "made")]
    Inserted(String),
    /// Some columns were changed.
    Set {
        /// The values before.
        before: Image,
        /// The values after.
        after: Image,
    },
    /// Deleted; the row before the deletion.
    #[serde(rename = "gone")]
    Deleted(Image),
}

impl RowEffect {
    /// Returns the texts of memories in the images.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let images = match self {
            Self::Inserted(_) => [None, None],
            Self::Set { before, after } => [Some(before), Some(after)],
            Self::Deleted(before) => [Some(before), None],
        };
        images.into_iter().flatten().filter_map(|image| image.get("content")?.as_str())
    }

    /// Returns whether it replaced the text of a memory.
    pub(crate) fn replaces_text(&self) -> bool {
        matches!(self, Self::Set { before, .. } if before.contains_key("content"))
    }
}

/// One act with the rows that it changed.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub id: i64,
    pub act: String,
    pub rows: Vec<RowChange>,
    pub client: Option<String>,
    pub session: Option<String>,
    pub group: Option<String>,
    pub at: Timestamp,
    pub undone_at: Option<Timestamp>,
}

impl Entry {
    /// Returns whether the act only records changes: nothing takes it back.
    pub(crate) fn is_record(&self) -> bool {
        [REDO, ERASE].contains(&self.act.as_str())
    }
}

/// Inserts an act; returns its number.
pub(crate) fn write(
    conn: &Connection,
    act: &str,
    rows: &[RowChange],
    actor: &Actor,
    now: Timestamp,
) -> Result<i64> {
    let before = serde_json::to_string(rows).unwrap_or_default();
    Ok(conn
        .prepare_cached("INSERT INTO journal(act, before, client, session, group_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .insert((act, before, &actor.client, &actor.session, &actor.group.id, now.0))?)
}

const COLUMNS: &str = "id, act, before, client, session, group_id, created_at, undone_at";

/// Returns one act by its number.
pub(crate) fn by_id(conn: &Connection, id: i64) -> Result<Option<Entry>> {
    Ok(conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM journal WHERE id = ?1"))?
        .query_row([id], read)
        .optional()?)
}

/// Returns acts, newest first: at most `limit`, older than the act `before`, and of a session if one
/// is given. Only the acts of a session include merges.
pub(crate) fn list(
    conn: &Connection,
    session: Option<&str>,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Entry>> {
    let wanted = format!("(session = ?3 OR (?3 IS NULL AND act <> '{MERGE}'))");
    page(conn, &wanted, (before, limit, session))
}

/// Returns acts as [`list`] does, of every session and with merges.
pub(crate) fn list_with_merges(
    conn: &Connection,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Entry>> {
    page(conn, "?3 IS NULL", (before, limit, None))
}

fn page(
    conn: &Connection,
    wanted: &str,
    (before, limit, session): (Option<i64>, usize, Option<&str>),
) -> Result<Vec<Entry>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM journal WHERE (?1 IS NULL OR id < ?1)
         AND act NOT IN ('{UNDO}', {RECORDS}) AND {wanted} ORDER BY id DESC LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((before, limit, session), read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the numbers of the acts of a session that were not undone, newest first.
pub(crate) fn open_of_session(conn: &Connection, session: &str) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT id FROM journal WHERE undone_at IS NULL AND act NOT IN ('{UNDO}', {RECORDS}) AND session = ?1 ORDER BY id DESC"
    ))?;
    let rows = statement.query_map([session], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the numbers of the undos that were not taken back, newest first.
pub(crate) fn open_undos(conn: &Connection) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT id FROM journal WHERE undone_at IS NULL AND act IN ('{UNDO}', '{UNDO_SESSION}') ORDER BY id DESC"
    ))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the numbers of acts since a time that were not undone, newest first.
pub(crate) fn open_since(conn: &Connection, since: Timestamp) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT id FROM journal WHERE undone_at IS NULL AND act NOT IN ('{MERGE}', '{UNDO}', {RECORDS}) AND created_at >= ?1 ORDER BY id DESC"
    ))?;
    let rows = statement.query_map([since.0], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the numbers of the acts after one that were not undone, newest first.
pub(crate) fn open_after(conn: &Connection, id: i64) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT id FROM journal WHERE undone_at IS NULL AND act NOT IN ('{UNDO}', {RECORDS}) AND id > ?1 ORDER BY id DESC"
    ))?;
    let rows = statement.query_map([id], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the newest act that was not undone.
pub(crate) fn last(conn: &Connection) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT id FROM journal WHERE undone_at IS NULL AND act NOT IN ('{MERGE}', '{UNDO}', {RECORDS}) ORDER BY id DESC LIMIT 1"
    );
    Ok(conn.prepare_cached(&sql)?.query_row([], |row| row.get(0)).optional()?)
}

/// Passes the acts from the newest back to the first that is later than a time, also the hidden ones:
/// the time of each, and the rows that it changed.
pub(crate) fn changes_after(
    conn: &Connection,
    at: Timestamp,
    mut each: impl FnMut(Timestamp, Vec<RowChange>) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare(
        "SELECT created_at, before FROM journal
         WHERE id >= (SELECT min(id) FROM journal WHERE created_at > ?1) ORDER BY id DESC",
    )?;
    let mut rows = statement.query([at.0])?;
    while let Some(row) = rows.next()? {
        let before = row.get_ref(1)?.as_str().unwrap_or_default();
        each(Timestamp(row.get(0)?), serde_json::from_str(before).unwrap_or_default())?;
    }
    Ok(())
}

/// Marks an act as undone.
pub(crate) fn set_undone(conn: &Connection, id: i64, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE journal SET undone_at = ?2 WHERE id = ?1")?.execute((id, now.0))?;
    Ok(())
}

/// Removes the images of a memory, its variants, its sources and the given relations from the
/// journal. Deletes acts that become empty. Returns the texts of the memory in these images.
pub(crate) fn redact(conn: &Connection, seq: i64, relations: &[String]) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    redact_where(conn, |change| {
        let is_memory = matches!(change.row, Row::Memory(memory) if memory == seq);
        texts.extend(change.effect.texts().filter(|_| is_memory).map(str::to_owned));
        is_part_of(&change.row, seq, relations)
    })?;
    Ok(texts)
}

/// Removes the images that hold a matching text: the acts cannot be undone any more.
pub(crate) fn redact_matching(conn: &Connection, matches: impl Fn(&Value) -> bool) -> Result<()> {
    redact_where(conn, |change| serde_json::to_value(change).is_ok_and(|value| matches(&value)))
}

/// Removes the matching images from the journal, and acts that become empty.
fn redact_where(conn: &Connection, mut is_redacted: impl FnMut(&RowChange) -> bool) -> Result<()> {
    let mut statement = conn.prepare("SELECT id, before FROM journal")?;
    let acts = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    for (id, before) in acts {
        let mut rows: Vec<RowChange> = serde_json::from_str(&before).unwrap_or_default();
        let count = rows.len();
        rows.retain(|change| !is_redacted(change));
        match rows.len() {
            remaining if remaining == count => {}
            0 => drop(conn.execute("DELETE FROM journal WHERE id = ?1", [id])?),
            _ => {
                let before = serde_json::to_string(&rows).unwrap_or_default();
                conn.execute("UPDATE journal SET before = ?2 WHERE id = ?1", (id, before))?;
            }
        }
    }
    Ok(())
}

/// Removes the images with earlier texts of a memory. Its edits then cannot be undone.
pub(crate) fn redact_texts(conn: &Connection, seq: i64) -> Result<()> {
    redact_where(conn, |change| {
        matches!(change.row, Row::Memory(memory) if memory == seq)
            && matches!(&change.effect, RowEffect::Set { before, .. } if before.contains_key("content"))
    })
}

/// Returns true for a row of the memory or of one of the relations.
fn is_part_of(row: &Row, seq: i64, relations: &[String]) -> bool {
    match row {
        Row::Memory(memory) | Row::Variant(memory, _) => *memory == seq,
        Row::Source(memory, source) => *memory == seq || *source == seq,
        Row::Relation(id) | Row::Evidence(id, _) => relations.contains(id),
        Row::Group(_) | Row::Alias(_) | Row::Tombstone(_) | Row::Act(_) => false,
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

/// Returns the acts of a kind, oldest first, also those that were undone.
pub(crate) fn of_kind(conn: &Connection, act: &str) -> Result<Vec<Entry>> {
    let sql = format!("SELECT {COLUMNS} FROM journal WHERE act = ?1 ORDER BY id");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([act], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
