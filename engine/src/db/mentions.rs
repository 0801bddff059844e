//! Rows of `mentions`: which memories mention an entity. They are derived from the texts.

use crate::db::damage::{self, Source};
use crate::db::memory_row::check_hash;
use crate::error::Result;
use rusqlite::{Connection, Params, Row, Statement};

/// Deletes the mentions in a memory, and the mentions of it.
pub(crate) fn clear(conn: &Connection, memory: i64) -> Result<()> {
    conn.prepare_cached("DELETE FROM mentions WHERE memory = ?1 OR entity = ?1")?
        .execute([memory])?;
    Ok(())
}

/// Records that a memory mentions an entity.
pub(crate) fn insert(conn: &Connection, entity: i64, memory: i64) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO mentions(entity, memory) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((entity, memory))?;
    Ok(())
}

/// Returns the memories that mention an entity, newest first.
pub(crate) fn of_entity(conn: &Connection, entity: i64) -> Result<Vec<i64>> {
    seqs(conn, "SELECT memory FROM mentions WHERE entity = ?1 ORDER BY memory DESC", entity)
}

/// Returns the entities that a memory mentions, oldest first.
pub(crate) fn in_memory(conn: &Connection, memory: i64) -> Result<Vec<i64>> {
    seqs(conn, "SELECT entity FROM mentions WHERE memory = ?1 ORDER BY entity", memory)
}

fn seqs(conn: &Connection, sql: &str, memory: i64) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([memory], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns memories whose text contains this phrase, as FTS5 tokenises it, newest first, with their
/// texts.
pub(crate) fn containing_phrase(
    conn: &Connection,
    words: &str,
    limit: usize,
) -> Result<Vec<(i64, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT m.seq, m.id, m.content, m.content_hash FROM memories_fts f JOIN memories m ON m.seq = f.rowid WHERE memories_fts MATCH ?1 ORDER BY f.rowid DESC LIMIT ?2",
    )?;
    // Names contain only letters, digits and spaces, so quoting them cannot fail.
    texts(conn, &mut statement, (format!("\"{words}\""), i64::try_from(limit).unwrap_or(i64::MAX)))
}

/// Returns memories whose text contains these characters in sequence, newest first, with their
/// texts. For scripts without spaces, in which FTS5 finds no words.
pub(crate) fn containing_characters(
    conn: &Connection,
    characters: &str,
    limit: usize,
) -> Result<Vec<(i64, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, id, content, content_hash FROM memories WHERE instr(content, ?1) > 0 ORDER BY seq DESC LIMIT ?2",
    )?;
    texts(conn, &mut statement, (characters, i64::try_from(limit).unwrap_or(i64::MAX)))
}

fn texts(
    conn: &Connection,
    statement: &mut Statement<'_>,
    params: impl Params,
) -> Result<Vec<(i64, String)>> {
    let mut texts = Vec::new();
    let read = |row: &Row<'_>| {
        check_hash(row, 2, 3)?;
        Ok((row.get(0)?, row.get(2)?))
    };
    damage::reading(conn, Source::memories(0, 1)).each(statement, params, read, |text| {
        texts.push(text);
        Ok(())
    })?;
    Ok(texts)
}
