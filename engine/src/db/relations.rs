//! Rows of `entity_relations` and `relation_evidence`, and the rows that depend on a memory.

use crate::db::damage::{self, Source};
use crate::db::memory_row;
use crate::db::rows::Row;
use crate::error::Result;
use crate::model::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryId};
use rusqlite::{Connection, OptionalExtension};

/// A stored relation.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub id: String,
    pub predicate: String,
    pub confidence: Confidence,
    /// The memory at the other end.
    pub other: i64,
}

/// Returns the id of a triple, if it exists.
pub(crate) fn find(
    conn: &Connection,
    subject: &MemoryId,
    predicate: &str,
    object: &MemoryId,
) -> Result<Option<String>> {
    let sql = "SELECT id FROM entity_relations WHERE subject_id = ?1 AND predicate = ?2 AND object_id = ?3";
    Ok(conn
        .prepare_cached(sql)?
        .query_row((subject.as_str(), predicate, object.as_str()), |row| row.get(0))
        .optional()?)
}

/// Returns the sequence numbers of subject and object of every relation, with its predicate.
pub(crate) fn all(conn: &Connection) -> Result<Vec<(i64, i64, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT s.seq, o.seq, r.predicate FROM entity_relations r
         JOIN memories s ON s.id = r.subject_id JOIN memories o ON o.id = r.object_id ORDER BY r.created_at, r.id",
    )?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let mut found = Vec::new();
    damage::reading(conn, Source::named("relation")).each(
        &mut statement,
        [],
        read,
        |relation| {
            found.push(relation);
            Ok(())
        },
    )?;
    Ok(found)
}

/// The values of a new row.
pub(crate) struct NewRelation<'a> {
    pub id: &'a str,
    pub subject: &'a MemoryId,
    pub predicate: &'a str,
    pub object: &'a MemoryId,
    pub confidence: Confidence,
}

/// Inserts a relation.
pub(crate) fn insert(conn: &Connection, new: &NewRelation<'_>, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO entity_relations(id, subject_id, predicate, object_id, confidence, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    conn.prepare_cached(sql)?.execute((
        new.id,
        new.subject.as_str(),
        new.predicate,
        new.object.as_str(),
        new.confidence.get(),
        now.0,
    ))?;
    Ok(())
}

/// Sets the confidence of a relation.
pub(crate) fn set_confidence(conn: &Connection, id: &str, confidence: Confidence) -> Result<()> {
    conn.prepare_cached("UPDATE entity_relations SET confidence = ?2 WHERE id = ?1")?
        .execute((id, confidence.get()))?;
    Ok(())
}

/// Adds a memory as evidence of a relation; returns false if it is evidence already.
pub(crate) fn add_evidence(conn: &Connection, relation: &str, memory: &MemoryId) -> Result<bool> {
    let sql = "INSERT INTO relation_evidence(relation_id, memory_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    Ok(conn.prepare_cached(sql)?.execute((relation, memory.as_str()))? > 0)
}

/// Returns the evidence of a relation, ordered by id.
pub(crate) fn evidence(conn: &Connection, relation: &str) -> Result<Vec<MemoryId>> {
    let mut statement = conn.prepare_cached(
        "SELECT memory_id FROM relation_evidence WHERE relation_id = ?1 ORDER BY memory_id",
    )?;
    let mut found = Vec::new();
    let read = |row: &rusqlite::Row<'_>| memory_row::parsed(row, 0);
    damage::reading(conn, Source::named("evidence")).each(
        &mut statement,
        [relation],
        read,
        |id| {
            found.push(id);
            Ok(())
        },
    )?;
    Ok(found)
}

/// Which end of a relation a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelationEnd {
    Subject,
    Object,
}

/// Returns the relations of a memory whose other end is active, oldest first.
pub(crate) fn of(conn: &Connection, id: &MemoryId, end: RelationEnd) -> Result<Vec<Relation>> {
    let (own, other) = match end {
        RelationEnd::Subject => ("subject_id", "object_id"),
        RelationEnd::Object => ("object_id", "subject_id"),
    };
    let mut statement = conn.prepare_cached(&format!(
        "SELECT r.id, r.predicate, r.confidence, m.seq FROM entity_relations r JOIN memories m ON m.id = r.{other}
         WHERE r.{own} = ?1 AND m.status = 'active' ORDER BY r.created_at, r.id"
    ))?;
    let mut found = Vec::new();
    damage::reading(conn, SOURCE).each(&mut statement, [id.as_str()], read, |relation| {
        found.push(relation);
        Ok(())
    })?;
    Ok(found)
}

/// The id is the first column.
const SOURCE: Source = Source::named("relation");

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Relation> {
    let confidence = memory_row::confidence(row, 2)?;
    Ok(Relation { id: row.get(0)?, predicate: row.get(1)?, confidence, other: row.get(3)? })
}

/// Returns a page of the relations of a memory whose other end is active, in both directions, newest
/// first: those stored before the relation `before`, at most `limit`. With each, which end the
/// memory is.
pub(crate) fn page(
    conn: &Connection,
    id: &MemoryId,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<(RelationEnd, Relation)>> {
    let mut statement = conn.prepare_cached(
        "SELECT r.id, r.predicate, r.confidence, m.seq, r.subject_id = ?1 FROM entity_relations r
         JOIN memories m ON m.id = CASE WHEN r.subject_id = ?1 THEN r.object_id ELSE r.subject_id END
         WHERE (r.subject_id = ?1 OR r.object_id = ?1) AND m.status = 'active'
           AND (?2 IS NULL OR (r.created_at, r.id) < (SELECT created_at, id FROM entity_relations WHERE id = ?2))
         ORDER BY r.created_at DESC, r.id DESC LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let read_end = |row: &rusqlite::Row<'_>| {
        let end = if row.get(4)? { RelationEnd::Subject } else { RelationEnd::Object };
        Ok((end, read(row)?))
    };
    let mut found = Vec::new();
    let params = (id.as_str(), before, limit);
    damage::reading(conn, SOURCE).each(&mut statement, params, read_end, |relation| {
        found.push(relation);
        Ok(())
    })?;
    Ok(found)
}

/// Returns whether a relation with this id exists.
pub(crate) fn exists(conn: &Connection, id: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM entity_relations WHERE id = ?1")?.exists([id])?)
}

/// Returns the rows that are deleted together with a memory: its relations with their evidence, its
/// variants and its sources.
pub(crate) fn rows_of(conn: &Connection, seq: i64, id: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut relations = conn.prepare_cached(
        "SELECT id FROM entity_relations WHERE subject_id = ?1 OR object_id = ?1",
    )?;
    for relation in relations.query_map([id], |row| row.get::<_, String>(0))? {
        rows.push(Row::Relation(relation?));
    }
    let mut evidence = conn.prepare_cached(
        "SELECT e.relation_id, e.memory_id FROM relation_evidence e JOIN entity_relations r ON r.id = e.relation_id
         WHERE e.memory_id = ?1 OR r.subject_id = ?1 OR r.object_id = ?1",
    )?;
    for pair in evidence.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (relation, memory) = pair?;
        rows.push(Row::Evidence(relation, memory));
    }
    let mut variants =
        conn.prepare_cached("SELECT content FROM memory_variants WHERE memory = ?1")?;
    for text in variants.query_map([seq], |row| row.get(0))? {
        rows.push(Row::Variant(seq, text?));
    }
    let mut sources = conn.prepare_cached(
        "SELECT memory, source FROM memory_sources WHERE memory = ?1 OR source = ?1",
    )?;
    for pair in sources.query_map([seq], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (memory, source) = pair?;
        rows.push(Row::Source(memory, source));
    }
    Ok(rows)
}
