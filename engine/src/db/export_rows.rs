//! Reads rows as lines of an export, in a fixed order.
//!
//! Not here: writing lines of a file as rows (`import_rows`), the format of a line
//! (`crate::transfer`).

use crate::db::damage::{self, DamagedRow, Source};
use crate::db::isolated_groups;
use crate::db::memory_row::{self, anchor, check_hash, confidence, parsed};
use crate::error::Result;
use crate::transfer::{
    Base64Bytes, ClusterLine, GroupLine, LogLine, MemoryLine, RelationLine, SourceLine,
    TombstoneLine, VariantLine, VectorLine,
};
use rusqlite::{Connection, Row};

/// Begins a read transaction, in which all reads see one state of the store.
pub(crate) fn snapshot(conn: &Connection) -> Result<rusqlite::Transaction<'_>> {
    Ok(conn.unchecked_transaction()?)
}

/// A query, and what its rows are.
#[derive(Clone, Copy)]
struct Query<'a> {
    sql: &'a str,
    source: Source,
}

impl<'a> Query<'a> {
    /// A query with the id of the row in the first column.
    fn named(sql: &'a str, place: &'static str) -> Self {
        Self { sql, source: Source::named(place) }
    }
}

/// Reads each row of a query and passes it on, except the damaged ones.
fn for_each<T>(
    conn: &Connection,
    query: Query<'_>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    pass: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    damage::reading(conn, query.source).each(&mut conn.prepare(query.sql)?, [], read, pass)
}

/// Passes the groups, ordered by id, each with its aliases in order.
pub(crate) fn groups(
    conn: &Connection,
    mut pass: impl FnMut(GroupLine) -> Result<()>,
) -> Result<()> {
    let mut aliases: Vec<(String, String)> = Vec::new();
    for_each(
        conn,
        Query::named("SELECT alias, group_id FROM group_aliases ORDER BY alias", "alias"),
        |row| Ok((row.get(0)?, row.get(1)?)),
        |pair| {
            aliases.push(pair);
            Ok(())
        },
    )?;
    let isolated = isolated_groups::all_of_any_schema(conn)?;
    let read = |row: &Row<'_>| {
        let id: String = row.get(0)?;
        let aliases = aliases
            .iter()
            .filter(|(_, group)| *group == id)
            .map(|(alias, _)| alias.clone())
            .collect();
        let isolated = isolated.contains(&id);
        Ok(GroupLine { id, name: row.get(1)?, created_at: row.get(2)?, aliases, isolated })
    };
    let sql = "SELECT id, name, created_at FROM groups ORDER BY id";
    for_each(conn, Query::named(sql, "project"), read, &mut pass)
}

/// The columns that [`read_memory_line`] reads, in its order.
const MEMORY_COLUMNS: &str = "id, type, scope, source_group, status, status_at, superseded_by, forgotten_reason, confidence, confidence_at, pinned, \
     access_count, last_accessed, boosted_at, created_at, updated_at, expires_at, metadata, content, content_hash, seq, origin, client, session, \
     trust, flags, echo, branch, commit_id, importance";

/// Where number and id are in [`MEMORY_COLUMNS`].
const MEMORY_SOURCE: Source = Source::memories(20, 0);

/// Passes the memories in storage order.
pub(crate) fn memories(
    conn: &Connection,
    pass: impl FnMut(MemoryLine) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT {MEMORY_COLUMNS} FROM memories ORDER BY seq");
    for_each(conn, Query { sql: &sql, source: MEMORY_SOURCE }, read_memory_line, pass)
}

/// Passes the memories ordered by id.
pub(crate) fn memories_by_id(
    conn: &Connection,
    pass: impl FnMut(MemoryLine) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT {MEMORY_COLUMNS} FROM memories ORDER BY id");
    for_each(conn, Query { sql: &sql, source: MEMORY_SOURCE }, read_memory_line, pass)
}

/// Returns one memory as a line; `None` if it is damaged.
pub(crate) fn memory_line(conn: &Connection, seq: i64) -> Result<Option<MemoryLine>> {
    Ok(conn
        .prepare_cached(&format!("SELECT {MEMORY_COLUMNS} FROM memories WHERE seq = ?1"))?
        .query_row([seq], |row| damage::reading(conn, MEMORY_SOURCE).row(row, read_memory_line))?)
}

fn read_memory_line(row: &Row<'_>) -> rusqlite::Result<MemoryLine> {
    check_hash(row, 18, 19)?;
    let anchor = anchor(row, 8, [11, 29])?;
    Ok(MemoryLine {
        id: parsed(row, 0)?,
        kind: parsed(row, 1)?,
        scope: parsed(row, 2)?,
        group: row.get(3)?,
        status: memory_row::status(row, 4)?.as_str().to_owned(),
        status_at: row.get(5)?,
        superseded_by: row.get::<_, Option<String>>(6)?.and_then(|id| id.parse().ok()),
        forgotten_reason: row.get(7)?,
        confidence: anchor.confidence.rounded(),
        confidence_at: anchor.at.0,
        pinned: anchor.pinned,
        access_count: row.get(11)?,
        last_accessed: row.get(12)?,
        boosted_at: row.get(13)?,
        importance: anchor.importance,
        created_at: row.get(14)?,
        updated_at: row.get(15)?,
        expires_at: row.get(16)?,
        origin: row.get(21)?,
        client: row.get(22)?,
        session: row.get(23)?,
        trust: row.get(24)?,
        flags: memory_row::flags(row, 25)?.names(),
        echo: row.get(26)?,
        branch: row.get(27)?,
        commit: row.get(28)?,
        event_date_derived: None,
        metadata: memory_row::metadata(row, 17)?,
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
        Query::named(sql, "variant"),
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
    for_each(conn, Query::named(sql, "source"), read, pass)
}

/// Passes the vectors of a set. The first line of each memory also has its sign codes.
pub(crate) fn vectors(
    conn: &Connection,
    set: &str,
    pass: impl FnMut(VectorLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT m.id, p.piece, v.embedding, c.codes FROM memory_pieces p JOIN memories m ON m.seq = p.memory
         JOIN memories_vec v ON v.rowid = p.id LEFT JOIN word_codes c ON c.memory = p.memory AND c.model = p.model AND p.piece = 0
         WHERE p.model = ?1 ORDER BY p.memory, p.piece";
    let base64 = |bytes: &[u8]| Base64Bytes(Some(bytes.to_vec()));
    let read = |row: &Row<'_>| {
        let numbers = base64(row.get_ref(2)?.as_blob().unwrap_or_default());
        let codes = row.get_ref(3)?.as_blob().ok().map(base64);
        Ok(VectorLine { memory: parsed(row, 0)?, chunk: row.get(1)?, numbers, codes })
    };
    let source = Source::named(DamagedRow::VECTOR);
    damage::reading(conn, source).each(&mut conn.prepare(sql)?, [set], read, pass)
}

/// Passes the relations, oldest first, each with its evidence.
pub(crate) fn relations(
    conn: &Connection,
    mut pass: impl FnMut(RelationLine) -> Result<()>,
) -> Result<()> {
    let mut select_evidence = conn.prepare(
        "SELECT memory_id FROM relation_evidence WHERE relation_id = ?1 ORDER BY memory_id",
    )?;
    let sql = "SELECT id, subject_id, predicate, object_id, confidence, created_at FROM entity_relations ORDER BY created_at, id";
    let read = |row: &Row<'_>| {
        Ok(RelationLine {
            id: row.get(0)?,
            subject: parsed(row, 1)?,
            predicate: row.get(2)?,
            object: parsed(row, 3)?,
            confidence: confidence(row, 4)?,
            created_at: row.get(5)?,
            evidence: Vec::new(),
        })
    };
    for_each(conn, Query::named(sql, "relation"), read, |mut line| {
        let (of, evidence) = (Source::named("evidence"), &mut line.evidence);
        let read = |row: &Row<'_>| parsed(row, 0);
        damage::reading(conn, of).each(&mut select_evidence, [&line.id], read, |memory| {
            evidence.push(memory);
            Ok(())
        })?;
        pass(line)
    })
}

/// Passes the audit log in order, except lines written by imports.
pub(crate) fn log(conn: &Connection, pass: impl FnMut(LogLine) -> Result<()>) -> Result<()> {
    let sql = "SELECT operation, memory_id, created_at, client, session, group_id, details, id FROM memory_log WHERE operation <> 'import' ORDER BY id";
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
    let source = Source { row: Some(7), id: Some(1), ..Source::numbered("log line") };
    for_each(conn, Query { sql, source }, read, pass)
}

/// Passes the ids of hard-deleted memories.
pub(crate) fn tombstones(
    conn: &Connection,
    pass: impl FnMut(TombstoneLine) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT id, created_at FROM tombstones ORDER BY id";
    let read = |row: &Row<'_>| Ok(TombstoneLine { id: parsed(row, 0)?, created_at: row.get(1)? });
    for_each(conn, Query::named(sql, "tombstone"), read, pass)
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
    for_each(conn, Query::named(sql, "cluster"), read, pass)
}
