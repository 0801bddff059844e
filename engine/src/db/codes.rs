//! Rows of `word_codes`: the content words of a memory, as its model understands them.
//!
//! Not here: comparing them (`soft`).

use crate::db::Seqs;
use crate::error::Result;
use crate::model::encoding::{SIGN_CODE_BYTES, SignCode};
use rusqlite::{CachedStatement, Connection, OptionalExtension};

/// What stores codes.
pub(crate) fn statement(conn: &Connection) -> Result<CachedStatement<'_>> {
    // OR REPLACE may take several rows away, so SQLite would begin a statement that it can take back, and FTS5 write out all it has gathered.
    let sql = "INSERT INTO word_codes(memory, model, codes) VALUES (?1, ?2, ?3)
               ON CONFLICT(memory) DO UPDATE SET model = excluded.model, codes = excluded.codes";
    Ok(conn.prepare_cached(sql)?)
}

/// Stores the codes of a memory in the place of those that it had, with what [`statement`] gave.
pub(crate) fn put(
    statement: &mut CachedStatement<'_>,
    memory: i64,
    model: &str,
    codes: &[SignCode],
) -> Result<()> {
    let bytes = codes.iter().map(SignCode::bytes).collect::<Vec<_>>().into_flattened();
    statement.execute((memory, model, bytes))?;
    Ok(())
}

/// Takes the codes of a memory away.
pub(crate) fn delete(conn: &Connection, memory: i64) -> Result<()> {
    conn.prepare_cached("DELETE FROM word_codes WHERE memory = ?1")?.execute([memory])?;
    Ok(())
}

/// The codes of one memory; none where its words have not been read.
pub(crate) fn of(conn: &Connection, memory: i64, model: &str) -> Result<Option<Vec<SignCode>>> {
    let mut statement =
        conn.prepare_cached("SELECT codes FROM word_codes WHERE memory = ?1 AND model = ?2")?;
    Ok(statement
        .query_row((memory, model), |row| Ok(unpacked(row.get_ref(0)?.as_blob()?)))
        .optional()?)
}

/// Those of these memories whose words this model has read, with their codes, in storing order.
pub(crate) fn load(
    conn: &Connection,
    model: &str,
    seqs: &Seqs,
    mut each: impl FnMut(i64, Vec<SignCode>) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT memory, codes FROM word_codes WHERE model = ?1 AND memory BETWEEN ?2 AND ?3 ORDER BY memory";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query((model, seqs.start(), seqs.end()))?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, unpacked(row.get_ref(1)?.as_blob().unwrap_or_default()))?;
    }
    Ok(())
}

fn unpacked(bytes: &[u8]) -> Vec<SignCode> {
    let (codes, _) = bytes.as_chunks::<SIGN_CODE_BYTES>();
    codes.iter().map(SignCode::from_bytes).collect()
}
