//! Reads rows as lines of an export, in a fixed order.
//!
//! Not here: rows from a file (`import_rows`), the format of a line (`crate::transfer`).

use crate::error::Result;
use crate::transfer::{
    Base64Bytes, ClusterLine, GroupLine, LogLine, MemoryLine, RelationLine, SourceLine,
    TombstoneLine, VariantLine, VectorLine,
};
use loci_proto::memory::Confidence;
use rusqlite::{Connection, Row, types::Type};
use std::str::FromStr;

/// Begins a read transaction: one consistent state of the store.
pub(crate) fn snapshot(conn: &Connection) -> Result<rusqlite::Transaction<'_>> {
    Ok(conn.unchecked_transaction()?)
}

fn each<T>(
    conn: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    mut give: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        give(read(row)?)?;
    }
    Ok(())
}

/// Passes groups by id, each with its aliases in order.
pub(crate) fn groups(
    conn: &Connection,
    mut give: impl FnMut(GroupLine) -> Result<()>,
) -> Result<()> {
    let mut aliases: Vec<(String, String)> = Vec::new();
    each(
        conn,
        "SELECT alias, group_id FROM group_aliases ORDER BY alias",
        |row| Ok((row.get(0)?, row.get(1)?)),
        |pair| {
            aliases.push(pair);
            Ok(())
        },
    )?;
    let read = |row: &Row<'_>| {
        let id: String = row.get(0)?;
        let own = aliases
            .iter()
            .filter(|(_, group)| *group == id)
            .map(|(alias, _)| alias.clone())
            .collect();
        Ok(GroupLine { id, name: row.get(1)?, created_at: row.get(2)?, aliases: own })
    };
    each(conn, "SELECT id, name, created_at FROM groups ORDER BY id", read, &mut give)
}

const MEMORY: &str = "id, type, scope, source_group, status, status_at, superseded_by, forgotten_reason, confidence, confidence_at, pinned, \
     access_count, last_accessed, boosted_at, created_at, updated_at, expires_at, metadata, content";

/// Passes memories in storage order.
pub(crate) fn memories(
    conn: &Connection,
    give: impl FnMut(MemoryLine) -> Result<()>,
) -> Result<()> {
    each(conn, &format!("SELECT {MEMORY} FROM memories ORDER BY seq"), memory, give)
}

/// Returns one memory as a line.
pub(crate) fn memory_line(conn: &Connection, seq: i64) -> Result<MemoryLine> {
    Ok(conn
        .prepare_cached(&format!("SELECT {MEMORY} FROM memories WHERE seq = ?1"))?
        .query_row([seq], memory)?)
}

fn memory(row: &Row<'_>) -> rusqlite::Result<MemoryLine> {
    Ok(MemoryLine {
        id: word(row, 0)?,
        kind: word(row, 1)?,
        scope: word(row, 2)?,
        group: row.get(3)?,
        status: row.get(4)?,
        status_at: row.get(5)?,
        superseded_by: row.get::<_, Option<String>>(6)?.and_then(|id| id.parse().ok()),
        forgotten_reason: row.get(7)?,
        confidence: Confidence::new(row.get(8)?).map_err(|why| bad(8, why))?,
        confidence_at: row.get(9)?,
        pinned: row.get(10)?,
        access_count: row.get(11)?,
        last_accessed: row.get(12)?,
        boosted_at: row.get(13)?,
        created_at: row.get(14)?,
        updated_at: row.get(15)?,
        expires_at: row.get(16)?,
        metadata: serde_json::from_str(row.get_ref(17)?.as_str()?)
            .map_err(|e| bad(17, e.to_string()))?,
        content: row.get(18)?,
    })
}

/// Passes variants, by storage order of their memories, then by text.
pub(crate) fn variants(
    conn: &Connection,
    give: impl FnMut(VariantLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT m.id, v.created_at, v.content FROM memory_variants v JOIN memories m ON m.seq = v.memory ORDER BY v.memory, v.content";
    each(
        conn,
        sql,
        |row| {
            Ok(VariantLine { memory: word(row, 0)?, created_at: row.get(1)?, content: row.get(2)? })
        },
        give,
    )
}

/// Passes the sources of memories.
pub(crate) fn sources(conn: &Connection, give: impl FnMut(SourceLine) -> Result<()>) -> Result<()> {
    let sql = "SELECT m.id, s.id FROM memory_sources x JOIN memories m ON m.seq = x.memory JOIN memories s ON s.seq = x.source
               ORDER BY x.memory, x.source";
    each(conn, sql, |row| Ok(SourceLine { memory: word(row, 0)?, source: word(row, 1)? }), give)
}

/// Passes the vectors of a model, and with the first of each memory its sign codes.
pub(crate) fn vectors(
    conn: &Connection,
    model: &str,
    mut give: impl FnMut(VectorLine) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare(
        "SELECT m.id, p.piece, v.embedding, c.codes FROM memory_pieces p JOIN memories m ON m.seq = p.memory
         JOIN memories_vec v ON v.rowid = p.id LEFT JOIN word_codes c ON c.memory = p.memory AND c.model = p.model AND p.piece = 0
         WHERE p.model = ?1 ORDER BY p.memory, p.piece",
    )?;
    let mut rows = statement.query([model])?;
    while let Some(row) = rows.next()? {
        let base64 = |bytes: &[u8]| Base64Bytes(Some(bytes.to_vec()));
        let numbers = base64(row.get_ref(2)?.as_blob().unwrap_or_default());
        let codes = row.get_ref(3)?.as_blob().ok().map(base64);
        give(VectorLine { memory: word(row, 0)?, chunk: row.get(1)?, numbers, codes })?;
    }
    Ok(())
}

/// Passes relations, oldest first, each with its evidence.
pub(crate) fn relations(
    conn: &Connection,
    give: impl FnMut(RelationLine) -> Result<()>,
) -> Result<()> {
    let mut evidence = conn.prepare(
        "SELECT memory_id FROM relation_evidence WHERE relation_id = ?1 ORDER BY memory_id",
    )?;
    let mut give = give;
    let sql = "SELECT id, subject_id, predicate, object_id, confidence, created_at FROM entity_relations ORDER BY created_at, id";
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let known =
            evidence.query_map([&id], |found| word(found, 0))?.collect::<Result<Vec<_>, _>>()?;
        give(RelationLine {
            subject: word(row, 1)?,
            predicate: row.get(2)?,
            object: word(row, 3)?,
            confidence: Confidence::new(row.get(4)?).map_err(|why| bad(4, why))?,
            created_at: row.get(5)?,
            evidence: known,
            id,
        })?;
    }
    Ok(())
}

/// Passes the audit log in order, except lines written by imports.
pub(crate) fn log(conn: &Connection, give: impl FnMut(LogLine) -> Result<()>) -> Result<()> {
    let sql = "SELECT operation, memory_id, created_at, client, session, group_id, details FROM memory_log WHERE operation <> 'import' ORDER BY id";
    let read = |row: &Row<'_>| {
        Ok(LogLine {
            operation: row.get(0)?,
            memory: row.get(1)?,
            at: row.get(2)?,
            client: row.get(3)?,
            session: row.get(4)?,
            group: row.get(5)?,
            details: row.get(6)?,
        })
    };
    each(conn, sql, read, give)
}

/// Passes the ids of hard-deleted memories.
pub(crate) fn tombstones(
    conn: &Connection,
    give: impl FnMut(TombstoneLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT id, created_at FROM tombstones ORDER BY id";
    each(conn, sql, |row| Ok(TombstoneLine { id: word(row, 0)?, created_at: row.get(1)? }), give)
}

/// Passes the clusters that maintenance has processed.
pub(crate) fn clusters(
    conn: &Connection,
    give: impl FnMut(ClusterLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT key, kind, made_at FROM clusters ORDER BY key";
    each(
        conn,
        sql,
        |row| Ok(ClusterLine { key: row.get(0)?, purpose: row.get(1)?, made_at: row.get(2)? }),
        give,
    )
}

fn word<T: FromStr<Err = String>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get_ref(column)?.as_str()?.parse().map_err(|why| bad(column, why))
}

fn bad(column: usize, why: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}
