//! Reads every row of a database again and checks it: texts against their hashes, vectors, sign
//! codes, relations.
//!
//! Rows are read one by one, so that a damaged page costs only its own rows, and no long read
//! transaction keeps the write-ahead log from being emptied. Not here: pages and references
//! (`integrity`).

use crate::db::export_rows;
use crate::error::{Error, Result};
use crate::model::encoding::{DIMENSIONS, SIGN_CODE_BYTES};
use rusqlite::{Connection, OptionalExtension};

/// The outcome for one kind of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reread {
    /// The kind in the plural, for example `memories`.
    pub kind: &'static str,
    /// Rows that are whole.
    pub verified: usize,
    /// All rows.
    pub total: usize,
    /// The first fault.
    pub fault: Option<String>,
}

impl Reread {
    /// Checks each key; a row that was deleted meanwhile (`None`) does not count.
    fn of(
        kind: &'static str,
        keys: &[i64],
        mut check: impl FnMut(i64) -> Result<Option<bool>>,
    ) -> Self {
        let mut this = Self { kind, verified: 0, total: 0, fault: None };
        for key in keys {
            let fault = match check(*key) {
                Ok(None) => continue,
                Ok(Some(true)) => None,
                Ok(Some(false)) => Some("its content is not valid".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            this.total += 1;
            match fault {
                None => this.verified += 1,
                Some(fault) => {
                    this.fault.get_or_insert_with(|| format!("row {key} of {kind}: {fault}"));
                }
            }
        }
        this
    }
}

/// Reads everything again.
///
/// # Errors
/// `Database` if the rows cannot be listed.
pub(crate) fn all(conn: &Connection) -> Result<Vec<Reread>> {
    Ok(vec![
        Reread::of("memories", &keys(conn, "SELECT seq FROM memories ORDER BY seq")?, |seq| {
            check_memory(conn, seq)
        }),
        Reread::of("vectors", &keys(conn, "SELECT id FROM memory_pieces ORDER BY id")?, |id| {
            check_vector(conn, id)
        }),
        Reread::of(
            "sign codes",
            &keys(conn, "SELECT memory FROM word_codes ORDER BY memory")?,
            |seq| check_codes(conn, seq),
        ),
        Reread::of(
            "relations",
            &keys(conn, "SELECT rowid FROM entity_relations ORDER BY rowid")?,
            |rowid| check_relation(conn, rowid),
        ),
    ])
}

fn keys(conn: &Connection, sql: &str) -> Result<Vec<i64>> {
    let mut statement = conn.prepare(sql)?;
    let keys = statement.query_map([], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// A text that differs from its hash is damaged.
fn check_memory(conn: &Connection, seq: i64) -> Result<Option<bool>> {
    match export_rows::memory_line(conn, seq) {
        Ok(line) => Ok(Some(line.is_some())),
        Err(Error::Database(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_vector(conn: &Connection, id: i64) -> Result<Option<bool>> {
    let mut exists = conn.prepare_cached("SELECT 1 FROM memory_pieces WHERE id = ?1")?;
    let bytes: Option<Vec<u8>> = conn
        .prepare_cached("SELECT embedding FROM memories_vec WHERE rowid = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let is_whole = |bytes: &Vec<u8>| {
        let (numbers, rest) = bytes.as_chunks::<4>();
        rest.is_empty()
            && numbers.len() == DIMENSIONS
            && numbers.iter().all(|number| f32::from_le_bytes(*number).is_finite())
    };
    match bytes {
        Some(bytes) => Ok(Some(is_whole(&bytes))),
        None if exists.exists([id])? => Ok(Some(false)),
        None => Ok(None),
    }
}

fn check_codes(conn: &Connection, seq: i64) -> Result<Option<bool>> {
    let bytes: Option<Vec<u8>> = conn
        .prepare_cached("SELECT codes FROM word_codes WHERE memory = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?;
    Ok(bytes.map(|bytes| bytes.len().is_multiple_of(SIGN_CODE_BYTES)))
}

fn check_relation(conn: &Connection, rowid: i64) -> Result<Option<bool>> {
    let id: Option<String> = conn
        .prepare_cached("SELECT id FROM entity_relations WHERE rowid = ?1 AND predicate <> ''")?
        .query_row([rowid], |row| row.get(0))
        .optional()?;
    match id {
        Some(id) => Ok(Some(!id.is_empty())),
        None => Ok(None),
    }
}
