//! Rows of `word_codes`: the sign codes of a memory's content words.
//!
//! Not here: comparing them (`crate::ranking::late_interaction`).

use crate::db::SeqRange;
use crate::db::damage::{self, DamagedRow, Source};
use crate::db::memory_row::column_error;
use crate::error::Result;
use crate::model::encoding::{SIGN_CODE_BYTES, SignCode};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

/// Codes with the memory's number in the first column; they are computed again with the vectors.
const SOURCE: Source = Source::numbered(DamagedRow::VECTOR);

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

/// Deletes all codes of a set.
pub(crate) fn delete_set(conn: &Connection, set: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM word_codes WHERE model = ?1")?.execute([set])?;
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
    let range = (set, seqs.start(), seqs.end());
    damage::reading(conn, SOURCE).each(&mut statement, range, read, |(seq, codes)| each(seq, codes))
}

/// Reads the codes of every set, so that damaged ones are recorded.
pub(crate) fn check_all(conn: &Connection) -> Result<()> {
    let mut statement = conn.prepare_cached("SELECT memory, codes FROM word_codes")?;
    damage::reading(conn, SOURCE).each(&mut statement, [], read, |_| Ok(()))
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Vec<SignCode>)> {
    let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
    if bytes.len() % SIGN_CODE_BYTES > 0 {
        return Err(column_error(1, format!("has {} bytes", bytes.len())));
    }
    Ok((row.get(0)?, unpack(bytes)))
}

fn unpack(bytes: &[u8]) -> Vec<SignCode> {
    let (codes, _) = bytes.as_chunks::<SIGN_CODE_BYTES>();
    codes.iter().map(SignCode::from_bytes).collect()
}
