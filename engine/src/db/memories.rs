//! Rows of `memories` and `memory_variants`.

use crate::db::{SeqRange, vectors};
use crate::error::Result;
use crate::flags::Flags;
use crate::model::decay::Anchor;
use crate::model::entry::Entry;
use crate::model::memory::Memory;
use crate::model::names;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::text::features;
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Origin, Scope};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, types::Type};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::str::FromStr;

/// The values of a new row.
pub(crate) struct NewMemory<'a> {
    pub id: &'a MemoryId,
    pub kind: MemoryType,
    pub content: &'a str,
    pub group: &'a str,
    pub scope: Scope,
    pub confidence: Confidence,
    pub metadata: &'a Map<String, Value>,
    pub hash: &'a [u8],
    pub expires_at: Option<Timestamp>,
    pub provenance: &'a Provenance,
}

/// The scope in force, with the columns of `memories` unqualified: a gated memory is not global
/// ([`Provenance::is_gated`] in SQL).
macro_rules! scope_in_force {
    ($prefix:literal) => {
        concat!(
            "CASE WHEN ",
            $prefix,
            "trust = 'import' OR ",
            $prefix,
            "flags IS NOT NULL THEN 'group' ELSE ",
            $prefix,
            "scope END"
        )
    };
}

/// The scope in force; the table has no alias.
pub(crate) const SCOPE: &str = scope_in_force!("");
/// The scope in force; the table is aliased `m`.
pub(crate) const SCOPE_OF_M: &str = scope_in_force!("m.");

/// The columns that [`read_memory`] reads, in its order.
pub(crate) const COLUMNS: &str = concat!(
    "seq, id, type, content, source_group, ",
    scope_in_force!(""),
    ", status, confidence, confidence_at, pinned, created_at, expires_at, superseded_by, metadata, \
     updated_at, forgotten_reason, access_count, last_accessed, origin, client, session, trust, flags, echo"
);

/// Inserts a row; returns its sequence number. A trigger updates the keyword index.
pub(crate) fn insert(conn: &Connection, new: &NewMemory<'_>, now: Timestamp) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "INSERT INTO memories(id, type, content, source_group, scope, confidence, confidence_at, created_at, updated_at, metadata, content_hash, status_at, expires_at,
               origin, client, session, trust, flags, echo)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?8, ?9, ?7, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .insert(rusqlite::params![
            new.id.as_str(),
            new.kind.as_str(),
            new.content,
            new.group,
            new.scope.as_str(),
            new.confidence.get(),
            now.0,
            Value::Object(new.metadata.clone()).to_string(),
            new.hash,
            new.expires_at.map(|at| at.0),
            new.provenance.origin.map(Origin::as_str),
            new.provenance.client,
            new.provenance.session,
            new.provenance.trust.as_str(),
            flags_column(new.provenance.flags),
            new.provenance.is_echo,
        ])?)
}

/// Returns the memory with this id, whatever its status.
pub(crate) fn by_id(conn: &Connection, id: &MemoryId) -> Result<Option<Memory>> {
    Ok(conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE id = ?1"))?
        .query_row([id.as_str()], read_memory)
        .optional()?)
}

/// Returns the memory with this sequence number.
pub(crate) fn by_seq(conn: &Connection, seq: i64) -> Result<Option<Memory>> {
    MemoryReader::new(conn)?.get(seq)
}

/// Reads memories by sequence number with one prepared statement.
pub(crate) struct MemoryReader<'a>(CachedStatement<'a>);

impl<'a> MemoryReader<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Result<Self> {
        Ok(Self(conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE seq = ?1"))?))
    }

    pub(crate) fn get(&mut self, seq: i64) -> Result<Option<Memory>> {
        Ok(self.0.query_row([seq], read_memory).optional()?)
    }
}

/// Returns whether a memory is an entity.
pub(crate) fn is_entity(conn: &Connection, seq: i64) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM memories WHERE seq = ?1 AND type = 'entity'")?
        .exists([seq])?)
}

/// Returns all entities, whatever their status.
pub(crate) fn entities(conn: &Connection) -> Result<HashSet<i64>> {
    let mut statement = conn.prepare_cached("SELECT seq FROM memories WHERE type = 'entity'")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Returns the active memories whose normalised text has this hash, oldest first.
pub(crate) fn by_hash(conn: &Connection, hash: &[u8]) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE content_hash = ?1 AND status = 'active' ORDER BY seq"
    ))?;
    let rows = statement.query_map([hash], read_memory)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the sequence numbers of all memories in storage order.
pub(crate) fn seqs(conn: &Connection) -> Result<Vec<i64>> {
    let mut statement = conn.prepare("SELECT seq FROM memories ORDER BY seq")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the last of the `count` memories from `first` on; `None` if fewer remain.
pub(crate) fn last_of(conn: &Connection, first: i64, count: i64) -> Result<Option<i64>> {
    let mut statement = conn.prepare_cached(
        "SELECT seq FROM memories WHERE seq >= ?1 ORDER BY seq LIMIT 1 OFFSET ?2",
    )?;
    Ok(statement.query_row((first, count - 1), |row| row.get(0)).optional()?)
}

/// Counts memories, whatever their status.
pub(crate) fn count(conn: &Connection) -> Result<usize> {
    let count: i64 = conn.query_row("SELECT count(*) FROM memories", [], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Passes the index entries of these memories to `each`, in storage order.
pub(crate) fn entries(
    conn: &Connection,
    seqs: &SeqRange,
    mut each: impl FnMut(Entry) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {ENTRY} FROM memories m WHERE m.seq BETWEEN ?1 AND ?2 ORDER BY m.seq"
    ))?;
    let mut rows = statement.query((seqs.start(), seqs.end()))?;
    while let Some(row) = rows.next()? {
        each(read_entry(row)?)?;
    }
    Ok(())
}

/// Returns the index entry of one memory.
pub(crate) fn entry(conn: &Connection, seq: i64) -> Result<Option<Entry>> {
    Ok(entries_of(conn, &[seq])?.pop().and_then(|(_, entry)| entry))
}

/// Returns the index entries of many memories by sequence number; `None` for deleted ones.
pub(crate) fn entries_of(conn: &Connection, seqs: &[i64]) -> Result<Vec<(i64, Option<Entry>)>> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {ENTRY} FROM memories m WHERE m.seq = ?1"))?;
    seqs.iter().map(|seq| Ok((*seq, statement.query_row([seq], read_entry).optional()?))).collect()
}

/// The columns that [`read_entry`] reads, in its order; the table is aliased `m`.
pub(crate) const ENTRY: &str = concat!(
    "m.seq, m.type, m.source_group, ",
    scope_in_force!("m."),
    ", m.status, m.confidence, m.confidence_at, m.pinned, m.expires_at,
     CASE WHEN m.type = 'entity' THEN m.metadata END, m.content, m.created_at, json_extract(m.metadata, '$.event_date'),
     CASE WHEN m.status = 'compacted' THEN (SELECT s.seq FROM memories s WHERE s.id = m.superseded_by) END,
     coalesce(json_extract(m.metadata, '$.summary') = 1 AND json_extract(m.metadata, '$.method') = 'extractive'
       AND json_extract(m.metadata, '$.cluster') IS NOT NULL, 0)"
);

/// Updates a memory that was stored again: sets its confidence and its metadata, and counts an
/// access.
pub(crate) fn reinforce(
    conn: &Connection,
    memory: &Memory,
    confidence: Confidence,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memories SET confidence = ?2, confidence_at = ?3, updated_at = ?3, access_count = access_count + 1, metadata = ?4 WHERE seq = ?1",
    )?
    .execute((memory.seq, confidence.get(), now.0, Value::Object(memory.metadata.clone()).to_string()))?;
    Ok(())
}

/// Sets the metadata of a memory.
pub(crate) fn set_metadata(conn: &Connection, memory: &Memory, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE memories SET metadata = ?2, updated_at = ?3 WHERE seq = ?1")?
        .execute((memory.seq, Value::Object(memory.metadata.clone()).to_string(), now.0))?;
    Ok(())
}

/// Returns the memories that a session stored and that are still there, newest first, except those
/// of an import, whose lines can name any session.
pub(crate) fn of_session(conn: &Connection, session: &str, limit: usize) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE session = ?1 AND origin <> 'import' ORDER BY seq DESC LIMIT ?2"
    ))?;
    let rows =
        statement.query_map((session, i64::try_from(limit).unwrap_or(i64::MAX)), read_memory)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns imported memories without flags that no person has confirmed, in storage order.
pub(crate) fn unconfirmed_imports(conn: &Connection) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE trust = 'import' AND flags IS NULL ORDER BY seq"
    ))?;
    let rows = statement.query_map([], read_memory)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Stores another wording of a memory.
pub(crate) fn add_variant(
    conn: &Connection,
    seq: i64,
    content: &str,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached("INSERT INTO memory_variants(memory, content, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute((seq, content, now.0))?;
    Ok(())
}

/// Marks a memory as superseded by another.
pub(crate) fn supersede(conn: &Connection, seq: i64, by: &MemoryId, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE memories SET status = 'superseded', superseded_by = ?2, updated_at = ?3, status_at = ?3 WHERE seq = ?1")?
        .execute((seq, by.as_str(), now.0))?;
    Ok(())
}

/// A new status of a memory, the memory that replaces it, and why it was forgotten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusChange<'a> {
    pub status: Status,
    /// The id of the memory that replaces it.
    pub by: Option<&'a str>,
    /// Why it was forgotten.
    pub reason: Option<&'a str>,
}

impl<'a> StatusChange<'a> {
    /// Recall returns the memory.
    pub(crate) const ACTIVE: Self = Self { status: Status::Active, by: None, reason: None };

    /// Recall returns a summary in place of the memory.
    pub(crate) fn compacted(by: &'a MemoryId) -> Self {
        Self { status: Status::Compacted, by: Some(by.as_str()), reason: None }
    }
}

/// Sets the status of a memory.
pub(crate) fn set_status(
    conn: &Connection,
    seq: i64,
    change: StatusChange<'_>,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memories SET status = ?2, superseded_by = ?3, forgotten_reason = ?4, updated_at = ?5, status_at = ?5 WHERE seq = ?1",
    )?
    .execute((seq, change.status.as_str(), change.by, change.reason, now.0))?;
    Ok(())
}

/// Returns the variants of a memory, ordered by text.
pub(crate) fn variants(conn: &Connection, seq: i64) -> Result<Vec<String>> {
    let mut statement = conn
        .prepare_cached("SELECT content FROM memory_variants WHERE memory = ?1 ORDER BY content")?;
    let rows = statement.query_map([seq], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the memories that this one replaced, oldest first.
pub(crate) fn replaced_by(conn: &Connection, id: &MemoryId) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE superseded_by = ?1 ORDER BY seq"
    ))?;
    let rows = statement.query_map([id.as_str()], read_memory)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the memories that this one was made from, oldest first.
pub(crate) fn sources(conn: &Connection, seq: i64) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (SELECT source FROM memory_sources WHERE memory = ?1) ORDER BY seq"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([seq], read_memory)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Records that one memory was made from another.
pub(crate) fn add_source(conn: &Connection, memory: i64, source: i64) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO memory_sources(memory, source) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((memory, source))?;
    Ok(())
}

/// Returns another active memory with the same text and type that the same projects see, if there
/// is one.
pub(crate) fn same_text(conn: &Connection, memory: &Memory) -> Result<Option<MemoryId>> {
    let sql = "SELECT t.id FROM memories t JOIN memories m ON m.seq = ?1
               WHERE t.content_hash = m.content_hash AND t.status = 'active' AND t.seq <> m.seq AND t.type = m.type AND t.scope = m.scope
               AND (t.scope = 'global' OR t.source_group IS m.source_group) AND t.trust = m.trust
               AND (t.flags IS NULL) = (m.flags IS NULL) ORDER BY t.seq LIMIT 1";
    let id: Option<String> =
        conn.prepare_cached(sql)?.query_row([memory.seq], |row| row.get(0)).optional()?;
    Ok(id.and_then(|id| id.parse().ok()))
}

/// Deletes a memory permanently, with its terms, vectors, variants, relations, sources and
/// mentions.
pub(crate) fn delete(conn: &Connection, seq: i64) -> Result<()> {
    vectors::delete(conn, seq)?;
    conn.prepare_cached("DELETE FROM memories WHERE seq = ?1")?.execute([seq])?;
    Ok(())
}

/// Adds `times` to the number of accesses, and sets the confidence if the accesses raised it.
pub(crate) fn touch(
    conn: &Connection,
    seq: i64,
    times: u32,
    now: Timestamp,
    boosted: Option<Confidence>,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memories SET access_count = access_count + ?2, last_accessed = ?3 WHERE seq = ?1",
    )?
    .execute((seq, times, now.0))?;
    if let Some(confidence) = boosted {
        conn.prepare_cached("UPDATE memories SET confidence = ?2, confidence_at = ?3, boosted_at = ?3 WHERE seq = ?1")?.execute((
            seq,
            confidence.get(),
            now.0,
        ))?;
    }
    Ok(())
}

/// Returns when an access last raised this memory's confidence.
pub(crate) fn boosted_at(conn: &Connection, seq: i64) -> Result<Option<Timestamp>> {
    let at: Option<Option<i64>> = conn
        .prepare_cached("SELECT boosted_at FROM memories WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?;
    Ok(at.flatten().map(Timestamp))
}

pub(crate) fn read_memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let metadata: String = row.get(13)?;
    Ok(Memory {
        seq: row.get(0)?,
        id: parsed(row, 1)?,
        kind: parsed(row, 2)?,
        content: row.get(3)?,
        group: row.get(4)?,
        scope: parsed(row, 5)?,
        status: Status::parse(row.get_ref(6)?.as_str()?).unwrap_or(Status::Forgotten),
        anchor: anchor(row, 7)?,
        created_at: Timestamp(row.get(10)?),
        expires_at: row.get::<_, Option<i64>>(11)?.map(Timestamp),
        superseded_by: row.get(12)?,
        updated_at: Timestamp(row.get(14)?),
        forgotten_reason: row.get(15)?,
        access_count: row.get(16)?,
        last_accessed: row.get::<_, Option<i64>>(17)?.map(Timestamp),
        provenance: read_provenance(row, 18)?,
        metadata: serde_json::from_str(&metadata).map_err(|e| column_error(13, e.to_string()))?,
    })
}

/// Reads origin, client, session, trust, flags and echo from six consecutive columns.
fn read_provenance(row: &Row<'_>, first: usize) -> rusqlite::Result<Provenance> {
    let origin = row.get_ref(first)?.as_str_or_null()?;
    Ok(Provenance {
        origin: origin.and_then(|name| name.parse().ok()),
        client: row.get(first + 1)?,
        session: row.get(first + 2)?,
        trust: parsed(row, first + 3)?,
        flags: Flags::of_names(
            row.get_ref(first + 4)?.as_str_or_null()?.unwrap_or_default().split(','),
        ),
        is_echo: row.get(first + 5)?,
    })
}

/// Returns the value of the column `flags`.
pub(crate) fn flags_column(flags: Flags) -> Option<String> {
    (!flags.is_empty()).then(|| flags.names().join(","))
}

pub(crate) fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: row.get(0)?,
        kind: parsed(row, 1)?,
        group: row.get(2)?,
        scope: parsed(row, 3)?,
        status: Status::parse(row.get_ref(4)?.as_str()?).unwrap_or(Status::Forgotten),
        anchor: anchor(row, 5)?,
        expires_at: row.get::<_, Option<i64>>(8)?.map(Timestamp),
        names: row.get::<_, Option<String>>(9)?.map_or_else(Vec::new, |text| {
            let metadata: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
            names::of(&metadata)
        }),
        content: row.get(10)?,
        created_day: Timestamp(row.get(11)?).day(),
        event_day: row.get_ref(12)?.as_str().ok().and_then(features::day),
        summary: row.get(13)?,
        extractive: row.get(14)?,
    })
}

/// Reads confidence, its time and `pinned` from three consecutive columns.
pub(crate) fn anchor(row: &Row<'_>, first: usize) -> rusqlite::Result<Anchor> {
    let confidence = Confidence::new(row.get(first)?).map_err(|e| column_error(first, e))?;
    Ok(Anchor { confidence, at: Timestamp(row.get(first + 1)?), pinned: row.get(first + 2)? })
}

/// Parses the text of a column.
pub(crate) fn parsed<T: FromStr<Err = String>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    row.get_ref(column)?.as_str()?.parse().map_err(|e| column_error(column, e))
}

/// Returns the error for a column with an invalid value.
pub(crate) fn column_error(column: usize, reason: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
}
