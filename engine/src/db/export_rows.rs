//! Reads rows as lines of an export, in a fixed order.
//!
//! Not here: writing lines of a file as rows (`import_rows`), the format of a line
//! (`crate::transfer`).

use crate::db::memories::{column_error, parsed};
use crate::error::Result;
use crate::transfer::{
    Base64Bytes, ClusterLine, GroupLine, LogLine, MemoryLine, RelationLine, SourceLine,
    TombstoneLine, VariantLine, VectorLine,
};
use loci_proto::memory::Confidence;
use rusqlite::{Connection, Row};

/// Begins a read transaction, in which all reads see one state of the store.
pub(crate) fn snapshot(conn: &Connection) -> Result<rusqlite::Transaction<'_>> {
    Ok(conn.unchecked_transaction()?)
}

/// Reads each row of a query and passes it on.
fn for_each<T>(
    conn: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    mut pass: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        pass(read(row)?)?;
    }
    Ok(())
}

/// Passes the groups, ordered by id, each with its aliases in order.
pub(crate) fn groups(
    conn: &Connection,
    mut pass: impl FnMut(GroupLine) -> Result<()>,
) -> Result<()> {
    let mut aliases: Vec<(String, String)> = Vec::new();
    for_each(
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
        let aliases = aliases
            .iter()
            .filter(|(_, group)| *group == id)
            .map(|(alias, _)| alias.clone())
            .collect();
        Ok(GroupLine { id, name: row.get(1)?, created_at: row.get(2)?, aliases })
    };
    for_each(conn, "SELECT id, name, created_at FROM groups ORDER BY id", read, &mut pass)
}

/// The columns that [`read_memory_line`] reads, in its order.
const MEMORY_COLUMNS: &str = "id, type, scope, source_group, status, status_at, superseded_by, forgotten_reason, confidence, confidence_at, pinned, \
     access_count, last_accessed, boosted_at, created_at, updated_at, expires_at, metadata, content";

/// Passes the memories in storage order.
pub(crate) fn memories(
    conn: &Connection,
    pass: impl FnMut(MemoryLine) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT {MEMORY_COLUMNS} FROM memories ORDER BY seq");
    for_each(conn, &sql, read_memory_line, pass)
}

/// Returns one memory as a line.
pub(crate) fn memory_line(conn: &Connection, seq: i64) -> Result<MemoryLine> {
    Ok(conn
        .prepare_cached(&format!("SELECT {MEMORY_COLUMNS} FROM memories WHERE seq = ?1"))?
        .query_row([seq], read_memory_line)?)
}

fn read_memory_line(row: &Row<'_>) -> rusqlite::Result<MemoryLine> {
    Ok(MemoryLine {
        id: parsed(row, 0)?,
        kind: parsed(row, 1)?,
        scope: parsed(row, 2)?,
        group: row.get(3)?,
        status: row.get(4)?,
        status_at: row.get(5)?,
        superseded_by: row.get::<_, Option<String>>(6)?.and_then(|id| id.parse().ok()),
        forgotten_reason: row.get(7)?,
        confidence: Confidence::new(row.get(8)?).map_err(|reason| column_error(8, reason))?,
        confidence_at: row.get(9)?,
        pinned: row.get(10)?,
        access_count: row.get(11)?,
        last_accessed: row.get(12)?,
        boosted_at: row.get(13)?,
        created_at: row.get(14)?,
        updated_at: row.get(15)?,
        expires_at: row.get(16)?,
        metadata: serde_json::from_str(row.get_ref(17)?.as_str()?)
            .map_err(|e| column_error(17, e.to_string()))?,
        content: row.get(18)?,
    })
}

/// Passes the variants, ordered by memory and text.
pub(crate) fn variants(
    conn: &Connection,
    pass: impl FnMut(VariantLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT m.id, v.created_at, v.content FROM memory_variants v JOIN memories m ON m.seq = v.memory ORDER BY v.memory, v.content";
    for_each(
        conn,
        sql,
        |row| {
            Ok(VariantLine {
                memory: parsed(row, 0)?,
                created_at: row.get(1)?,
                content: row.get(2)?,
            })
        },
        pass,
    )
}

/// Passes the sources of memories.
pub(crate) fn sources(conn: &Connection, pass: impl FnMut(SourceLine) -> Result<()>) -> Result<()> {
    let sql = "SELECT m.id, s.id FROM memory_sources x JOIN memories m ON m.seq = x.memory JOIN memories s ON s.seq = x.source
               ORDER BY x.memory, x.source";
    let read = |row: &Row<'_>| Ok(SourceLine { memory: parsed(row, 0)?, source: parsed(row, 1)? });
    for_each(conn, sql, read, pass)
}

/// Passes the vectors of a model. The first line of each memory also has its sign codes.
pub(crate) fn vectors(
    conn: &Connection,
    model: &str,
    mut pass: impl FnMut(VectorLine) -> Result<()>,
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
        pass(VectorLine { memory: parsed(row, 0)?, chunk: row.get(1)?, numbers, codes })?;
    }
    Ok(())
}

/// The columns that [`read_relation_line`] reads, in its order.
const RELATION_COLUMNS: &str = "id, subject_id, predicate, object_id, confidence, created_at";

/// Passes the relations, oldest first, each with its evidence.
pub(crate) fn relations(
    conn: &Connection,
    mut pass: impl FnMut(RelationLine) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT {RELATION_COLUMNS} FROM entity_relations ORDER BY created_at, id");
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        pass(read_relation_line(conn, row)?)?;
    }
    Ok(())
}

/// Returns one relation as a line, with its evidence.
pub(crate) fn relation_line(conn: &Connection, id: &str) -> Result<RelationLine> {
    let sql = format!("SELECT {RELATION_COLUMNS} FROM entity_relations WHERE id = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    read_relation_line(conn, row)
}

fn read_relation_line(conn: &Connection, row: &Row<'_>) -> Result<RelationLine> {
    let id: String = row.get(0)?;
    let mut select_evidence = conn.prepare_cached(
        "SELECT memory_id FROM relation_evidence WHERE relation_id = ?1 ORDER BY memory_id",
    )?;
    let evidence =
        select_evidence.query_map([&id], |row| parsed(row, 0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(RelationLine {
        subject: parsed(row, 1)?,
        predicate: row.get(2)?,
        object: parsed(row, 3)?,
        confidence: Confidence::new(row.get(4)?).map_err(|reason| column_error(4, reason))?,
        created_at: row.get(5)?,
        evidence,
        id,
    })
}

/// Passes the audit log in order, except lines written by imports.
pub(crate) fn log(conn: &Connection, pass: impl FnMut(LogLine) -> Result<()>) -> Result<()> {
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
    for_each(conn, sql, read, pass)
}

/// Passes the ids of hard-deleted memories.
pub(crate) fn tombstones(
    conn: &Connection,
    pass: impl FnMut(TombstoneLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT id, created_at FROM tombstones ORDER BY id";
    let read = |row: &Row<'_>| Ok(TombstoneLine { id: parsed(row, 0)?, created_at: row.get(1)? });
    for_each(conn, sql, read, pass)
}

/// Passes the clusters that maintenance has processed.
pub(crate) fn clusters(
    conn: &Connection,
    pass: impl FnMut(ClusterLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT key, kind, made_at FROM clusters ORDER BY key";
    let read = |row: &Row<'_>| {
        Ok(ClusterLine { key: row.get(0)?, purpose: row.get(1)?, made_at: row.get(2)? })
    };
    for_each(conn, sql, read, pass)
}
