//! Rows of `word_codes`: the sign codes of a memory's content words.
//!
//! Not here: comparing them (`crate::ranking::late_interaction`).

use crate::db::SeqRange;
use crate::error::Result;
use crate::model::encoding::{SIGN_CODE_BYTES, SignCode};
use rusqlite::{CachedStatement, Connection, OptionalExtension};

/// Prepares the statement that stores codes.
pub(crate) fn statement(conn: &Connection) -> Result<CachedStatement<'_>> {
    // OR REPLACE may delete several rows; SQLite would then open a statement journal, and FTS5
    // would flush all pending terms.
    let sql = "INSERT INTO word_codes(memory, model, codes) VALUES (?1, ?2, ?3)
               ON CONFLICT(memory, model) DO UPDATE SET codes = excluded.codes";
    Ok(conn.prepare_cached(sql)?)
}

/// Stores the codes of a memory in a set in place of any earlier ones, with the statement of
/// [`statement`].
pub(crate) fn put(
    statement: &mut CachedStatement<'_>,
    memory: i64,
    set: &str,
    codes: &[SignCode],
) -> Result<()> {
    let bytes = codes.iter().map(SignCode::bytes).collect::<Vec<_>>().into_flattened();
    statement.execute((memory, set, bytes))?;
    Ok(())
}

/// Deletes the codes of a memory in one set.
pub(crate) fn delete_in(conn: &Connection, memory: i64, set: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM word_codes WHERE memory = ?1 AND model = ?2")?
        .execute((memory, set))?;
    Ok(())
}

/// Deletes the codes of a memory, in every set.
pub(crate) fn delete(conn: &Connection, memory: i64) -> Result<()> {
    conn.prepare_cached("DELETE FROM word_codes WHERE memory = ?1")?.execute([memory])?;
    Ok(())
}

/// Returns the codes of one memory in a set; `None` if its words were not encoded.
pub(crate) fn of(conn: &Connection, memory: i64, set: &str) -> Result<Option<Vec<SignCode>>> {
    let mut statement =
        conn.prepare_cached("SELECT codes FROM word_codes WHERE memory = ?1 AND model = ?2")?;
    Ok(statement
        .query_row((memory, set), |row| Ok(unpack(row.get_ref(0)?.as_blob()?)))
        .optional()?)
}

/// Passes the memories of a range that have codes in a set to `each`, with the codes, in storage
/// order.
pub(crate) fn load(
    conn: &Connection,
    set: &str,
    seqs: &SeqRange,
    mut each: impl FnMut(i64, Vec<SignCode>) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT memory, codes FROM word_codes WHERE model = ?1 AND memory BETWEEN ?2 AND ?3 ORDER BY memory";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query((set, seqs.start(), seqs.end()))?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, unpack(row.get_ref(1)?.as_blob().unwrap_or_default()))?;
    }
    Ok(())
}

fn unpack(bytes: &[u8]) -> Vec<SignCode> {
    let (codes, _) = bytes.as_chunks::<SIGN_CODE_BYTES>();
    codes.iter().map(SignCode::from_bytes).collect()
}
