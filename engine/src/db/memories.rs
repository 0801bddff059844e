//! Rows of `memories` and `memory_variants`. Damaged rows are recorded and left out of every read.
//!
//! Not here: decoding a row (`memory_row`).

use crate::db::damage::{self, DamagedRow, Source};
use crate::db::memory_row::{
    self, COLUMNS, ENTRY, SOURCE, intact_entry, intact_memories, intact_memory, read_damaged,
    read_entry,
};
use crate::db::{SeqRange, vectors};
use crate::error::Result;
use crate::flags::Flags;
use crate::model::document::{Document, questions};
use crate::model::entry::Entry;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Origin, Scope};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The values of a new row.
pub(crate) struct NewMemory<'a> {
    pub id: &'a MemoryId,
    pub kind: MemoryType,
    pub content: &'a str,
    pub group: Option<&'a str>,
    pub scope: Scope,
    pub confidence: Confidence,
    pub metadata: &'a Map<String, Value>,
    pub hash: &'a [u8],
    pub expires_at: Option<Timestamp>,
    pub provenance: &'a Provenance,
    /// `None` until it is known.
    pub importance: Option<Importance>,
}

/// Inserts a row; returns its sequence number. A trigger updates the keyword index.
pub(crate) fn insert(conn: &Connection, new: &NewMemory<'_>, now: Timestamp) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "INSERT INTO memories(id, type, content, source_group, scope, confidence, confidence_at, created_at, updated_at, metadata, content_hash, status_at, expires_at,
               origin, client, session, trust, flags, echo, branch, commit_id, importance)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?8, ?9, ?7, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
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
            new.provenance.branch,
            new.provenance.commit,
            new.importance.map(Importance::get),
        ])?)
}

/// Returns the memory with this id, whatever its status.
pub(crate) fn by_id(conn: &Connection, id: &MemoryId) -> Result<Option<Memory>> {
    // Looked up by the number, SQLite reads the id of the row and not that of the index.
    let found = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM memories WHERE seq = (SELECT seq FROM memories WHERE id = ?1)"
        ))?
        .query_row([id.as_str()], |row| intact_memory(conn, row))
        .optional()?
        .flatten();
    let Some(memory) = found.as_ref().filter(|memory| memory.id != *id) else { return Ok(found) };
    note_other_id(conn, memory.seq, id.as_str());
    Ok(None)
}

/// Returns the memory with this id, which may not be one.
pub(crate) fn by_id_text(conn: &Connection, id: &str) -> Result<Option<Memory>> {
    id.parse().map_or(Ok(None), |id| by_id(conn, &id))
}

/// Records a row whose id is not that by which the index of ids led to it.
pub(crate) fn note_other_id(conn: &Connection, seq: i64, id: &str) {
    let (place, reason) = (DamagedRow::MEMORY.to_owned(), "id differs from its index".to_owned());
    damage::note(conn, &DamagedRow { place, row: seq, id: id.to_owned(), reason });
}

/// Returns a memory as far as it can be decoded, for a person who repairs or removes it.
pub(crate) fn by_id_even_if_damaged(conn: &Connection, id: &MemoryId) -> Result<Option<Memory>> {
    Ok(conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE id = ?1"))?
        .query_row([id.as_str()], |row| damage::reading(conn, SOURCE).row(row, read_damaged))
        .optional()?
        .flatten())
}

/// Returns whether there is a row with this number, damaged or not.
pub(crate) fn has(conn: &Connection, seq: i64) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM memories WHERE seq = ?1")?.exists([seq])?)
}

/// Returns the memory with this sequence number.
pub(crate) fn by_seq(conn: &Connection, seq: i64) -> Result<Option<Memory>> {
    MemoryReader::new(conn)?.get(seq)
}

/// Reads memories by sequence number with one prepared statement.
pub(crate) struct MemoryReader<'a>(&'a Connection, CachedStatement<'a>);

impl<'a> MemoryReader<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Result<Self> {
        let sql = format!("SELECT {COLUMNS} FROM memories WHERE seq = ?1");
        Ok(Self(conn, conn.prepare_cached(&sql)?))
    }

    pub(crate) fn get(&mut self, seq: i64) -> Result<Option<Memory>> {
        let Self(conn, statement) = self;
        Ok(statement.query_row([seq], |row| intact_memory(conn, row)).optional()?.flatten())
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
    intact_memories(conn, &mut statement, [hash])
}

/// Returns whether a memory exists and has exactly these texts.
pub(crate) fn has_document(conn: &Connection, seq: i64, document: &Document) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT metadata FROM memories WHERE seq = ?1 AND content = ?2")?;
    let metadata = |row: &Row<'_>| memory_row::metadata(row, 0);
    let found = statement.query_row((seq, &document.content), metadata).optional()?;
    Ok(found.is_some_and(|metadata| questions(&metadata) == document.questions))
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
    each: impl FnMut(Entry) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {ENTRY} FROM memories m WHERE m.seq BETWEEN ?1 AND ?2 ORDER BY m.seq"
    ))?;
    let range = (seqs.start(), seqs.end());
    damage::reading(conn, SOURCE).each(&mut statement, range, read_entry, each)
}

/// Returns the index entry of one memory.
pub(crate) fn entry(conn: &Connection, seq: i64) -> Result<Option<Entry>> {
    Ok(entries_of(conn, &[seq])?.pop().and_then(|(_, entry)| entry))
}

/// Returns the index entries of many memories by sequence number; `None` for deleted and damaged
/// ones.
pub(crate) fn entries_of(conn: &Connection, seqs: &[i64]) -> Result<Vec<(i64, Option<Entry>)>> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {ENTRY} FROM memories m WHERE m.seq = ?1"))?;
    let mut entry_of = |seq: &i64| {
        let found = statement.query_row([seq], |row| intact_entry(conn, row)).optional()?;
        Ok((*seq, found.flatten()))
    };
    seqs.iter().map(&mut entry_of).collect()
}

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
        "SELECT {COLUMNS} FROM memories WHERE session = ?1 AND origin IS NOT 'import' ORDER BY seq DESC LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    intact_memories(conn, &mut statement, (session, limit))
}

/// Returns imported memories without flags that no person has confirmed, in storage order.
pub(crate) fn unconfirmed_imports(conn: &Connection) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE trust = 'import' AND flags IS NULL AND status <> 'candidate' ORDER BY seq"
    ))?;
    intact_memories(conn, &mut statement, [])
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
    /// A memory that no person has confirmed.
    pub(crate) const CANDIDATE: Self = Self { status: Status::Candidate, by: None, reason: None };

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
    let mut statement = conn.prepare_cached(
        "SELECT content, memory FROM memory_variants WHERE memory = ?1 ORDER BY content",
    )?;
    let mut texts = Vec::new();
    let (source, text) =
        (Source { row: Some(1), ..Source::numbered("variant") }, |row: &Row<'_>| row.get(0));
    damage::reading(conn, source).each(&mut statement, [seq], text, |text| {
        texts.push(text);
        Ok(())
    })?;
    Ok(texts)
}

/// Returns the memories that this one replaced, oldest first.
pub(crate) fn replaced_by(conn: &Connection, id: &MemoryId) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE superseded_by = ?1 ORDER BY seq"
    ))?;
    intact_memories(conn, &mut statement, [id.as_str()])
}

/// Returns the memories that this one was made from, oldest first.
pub(crate) fn sources(conn: &Connection, seq: i64) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE seq IN (SELECT source FROM memory_sources WHERE memory = ?1) ORDER BY seq"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    intact_memories(conn, &mut statement, [seq])
}

/// Records that one memory was made from another.
pub(crate) fn add_source(conn: &Connection, memory: i64, source: i64) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO memory_sources(memory, source) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((memory, source))?;
    Ok(())
}

/// Returns the other active memories with the same text and type that the same projects see, oldest
/// first.
pub(crate) fn same_text(conn: &Connection, memory: &Memory) -> Result<Vec<Memory>> {
    let sql = "SELECT t.id FROM memories t JOIN memories m ON m.seq = ?1
               WHERE t.content_hash = m.content_hash AND t.status = 'active' AND t.seq <> m.seq AND t.type = m.type AND t.scope = m.scope
               AND (t.scope = 'global' OR t.source_group IS m.source_group) AND t.trust = m.trust
               AND (t.flags IS NULL) = (m.flags IS NULL) ORDER BY t.seq";
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map([memory.seq], |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for id in ids {
        if let Ok(id) = id?.parse() {
            found.extend(by_id(conn, &id)?);
        }
    }
    Ok(found)
}

/// Deletes a memory permanently, with its terms, vectors, variants, relations, sources and
/// mentions.
pub(crate) fn delete(conn: &Connection, seq: i64) -> Result<()> {
    vectors::delete(conn, seq)?;
    conn.prepare_cached("DELETE FROM memories WHERE seq = ?1")?.execute([seq])?;
    Ok(())
}

/// What accesses raised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raised {
    pub confidence: Confidence,
    pub importance: Importance,
}

/// Adds `times` to the number of accesses, and sets confidence and importance if the accesses raised
/// them.
pub(crate) fn touch(
    conn: &Connection,
    seq: i64,
    times: u32,
    now: Timestamp,
    raised: Option<Raised>,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memories SET access_count = access_count + ?2, last_accessed = ?3 WHERE seq = ?1",
    )?
    .execute((seq, times, now.0))?;
    if let Some(Raised { confidence, importance }) = raised {
        conn.prepare_cached(
            "UPDATE memories SET confidence = ?2, confidence_at = ?3, boosted_at = ?3, importance = ?4 WHERE seq = ?1",
        )?
        .execute((seq, confidence.get(), now.0, importance.get()))?;
    }
    Ok(())
}

/// Sets the importance of a memory.
pub(crate) fn set_importance(conn: &Connection, seq: i64, importance: Importance) -> Result<()> {
    conn.prepare_cached("UPDATE memories SET importance = ?2 WHERE seq = ?1")?
        .execute((seq, importance.get()))?;
    Ok(())
}

/// Returns when an access last raised this memory's confidence and importance.
pub(crate) fn boosted_at(conn: &Connection, seq: i64) -> Result<Option<Timestamp>> {
    let at: Option<Option<i64>> = conn
        .prepare_cached("SELECT boosted_at FROM memories WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?;
    Ok(at.flatten().map(Timestamp))
}

/// Returns the value of the column `flags`.
pub(crate) fn flags_column(flags: Flags) -> Option<String> {
    (!flags.is_empty()).then(|| flags.names().join(","))
}

/// Returns the memories in use that have other wordings, each with one of them.
pub(crate) fn with_variants(conn: &Connection) -> Result<Vec<(Memory, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT v.memory, v.content FROM memory_variants v JOIN memories m ON m.seq = v.memory WHERE m.status = 'active' ORDER BY v.memory, v.content",
    )?;
    let rows: Vec<(i64, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut found = Vec::with_capacity(rows.len());
    for (seq, wording) in rows {
        found.extend(by_seq(conn, seq)?.map(|memory| (memory, wording)));
    }
    Ok(found)
}

/// Returns the flagged memories in use.
pub(crate) fn flagged(conn: &Connection) -> Result<Vec<Memory>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM memories WHERE flags IS NOT NULL AND status = 'active' ORDER BY seq"
    ))?;
    intact_memories(conn, &mut statement, [])
}

/// Returns how many memories in use are flagged, and how many more no person has confirmed since their import.
pub(crate) fn held_back(conn: &Connection) -> Result<(i64, i64)> {
    let sql = "SELECT count(flags), count(*) - count(flags) FROM memories WHERE status = 'active' AND (flags IS NOT NULL OR trust = 'import')";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
}
