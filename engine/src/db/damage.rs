//! Rows that cannot be used: a column cannot be decoded, or the text does not match its hash.
//!
//! Every read puts such a row aside and goes on with the next one. It is recorded in the
//! [`DamagedRows`] of the store, which each of its connections reaches through an SQL function, and
//! which is kept in `meta` for the next start: a damaged database is no place for a new table, and
//! an earlier build can still open it. Not here: who shows them (`operations::full_check`).

use crate::db::health;
use crate::error::Result;
use parking_lot::Mutex;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Params, Row, Statement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of rows that are listed; further ones are damaged too, but not listed.
const MAX_LISTED: usize = 1_000;
/// The key in `meta`: a JSON array of [`DamagedRow`].
const KEY: &str = "damaged_rows";
/// The SQL function that records a row.
const FUNCTION: &str = "loci_note_damage";

/// A row that is put aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DamagedRow {
    /// What the row is, for example `memory`, `relation` or `log line`.
    pub place: String,
    /// Its number; of a vector the memory's, 0 if it has none.
    pub row: i64,
    /// Its id, as far as it can be read.
    pub id: String,
    /// What is wrong, without a text of a memory.
    pub reason: String,
}

impl DamagedRow {
    /// The place of memories.
    pub const MEMORY: &'static str = "memory";
    /// The place of vectors and codes, which are computed again.
    pub const VECTOR: &'static str = "vector";

    /// Returns the row as a person finds it: its id, its number, and what is wrong.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { place, row, id, reason } = self;
        format!("{place} {id} (row {row}): {reason}")
    }
}

/// The damaged rows of one store that were found so far.
#[derive(Debug, Default)]
pub struct DamagedRows {
    rows: Mutex<BTreeSet<DamagedRow>>,
    changes: AtomicU64,
}

impl DamagedRows {
    /// Returns the rows, ordered by place and number.
    #[must_use]
    pub fn all(&self) -> Vec<DamagedRow> {
        self.rows.lock().iter().cloned().collect()
    }

    /// Returns a number that differs after each change.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Returns whether a row is listed.
    pub(crate) fn has(&self, place: &str, row: i64) -> bool {
        self.rows.lock().iter().any(|known| known.place == place && known.row == row)
    }

    /// Adds a row, or replaces what is known of it.
    pub(crate) fn note(&self, row: DamagedRow) {
        let mut rows = self.rows.lock();
        if rows.contains(&row) || rows.len() >= MAX_LISTED {
            return;
        }
        rows.retain(|known| {
            known.place != row.place || known.row != row.row || (row.row == 0 && known.id != row.id)
        });
        rows.insert(row);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes the rows for which `is_sound` returns true.
    pub(crate) fn remove(&self, is_sound: impl Fn(&DamagedRow) -> bool) {
        let mut rows = self.rows.lock();
        let before = rows.len();
        rows.retain(|row| !is_sound(row));
        if rows.len() < before {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Replaces all rows by those that a check of every row has found.
    pub(crate) fn replace(&self, found: Vec<DamagedRow>) {
        let found: BTreeSet<_> = found.into_iter().take(MAX_LISTED).collect();
        let mut rows = self.rows.lock();
        if *rows != found {
            *rows = found;
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Lets the reads of this connection record damaged rows.
pub(crate) fn record_into(conn: &Connection, rows: &Arc<DamagedRows>) -> Result<()> {
    let rows = Arc::clone(rows);
    // A trigger or a view of the file must not call it.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function(FUNCTION, 4, flags, move |call| {
        rows.note(DamagedRow {
            place: call.get(0)?,
            row: call.get(1)?,
            id: call.get(2)?,
            reason: call.get(3)?,
        });
        Ok(true)
    })?;
    Ok(())
}

/// Records a damaged row. Does nothing on a connection without [`record_into`].
pub(crate) fn note(conn: &Connection, row: &DamagedRow) {
    let sql = format!("SELECT {FUNCTION}(?1, ?2, ?3, ?4)");
    let _ = conn.prepare_cached(&sql).and_then(|mut statement| {
        statement.query_row((&row.place, row.row, &row.id, &row.reason), |_| Ok(()))
    });
}

/// Returns the rows that an earlier run has recorded. Unreadable ones are none: the next check
/// finds them again.
pub(crate) fn recorded(conn: &Connection) -> Result<Vec<DamagedRow>> {
    let stored = health::meta(conn, KEY)?;
    Ok(stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Keeps the rows for the next start.
pub(crate) fn record(conn: &Connection, rows: &[DamagedRow]) -> Result<()> {
    match serde_json::to_string(rows) {
        Ok(text) if !rows.is_empty() => health::set_meta(conn, KEY, &text),
        _ => health::remove_meta(conn, KEY),
    }
}

/// What the rows of a query are, and the columns with their number and id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub place: &'static str,
    /// The column with the number of the row.
    pub row: Option<usize>,
    /// The column with the id.
    pub id: Option<usize>,
}

impl Source {
    /// Memories whose number and id are in these columns.
    pub(crate) const fn memories(row: usize, id: usize) -> Self {
        Self { place: DamagedRow::MEMORY, row: Some(row), id: Some(id) }
    }

    /// Rows of another place, with the number in the first column.
    pub(crate) const fn numbered(place: &'static str) -> Self {
        Self { place, row: Some(0), id: None }
    }

    /// Rows of another place, with the id in the first column.
    pub(crate) const fn named(place: &'static str) -> Self {
        Self { place, row: None, id: Some(0) }
    }

    fn of(self, row: &Row<'_>, reason: String) -> DamagedRow {
        let number = |column| row.get_ref(column).ok().and_then(|value| value.as_i64().ok());
        let text = |column| {
            let bytes = row.get_ref(column).ok()?;
            let bytes = bytes.as_bytes().ok()?;
            Some(String::from_utf8_lossy(bytes).chars().take(64).collect::<String>())
        };
        DamagedRow {
            place: self.place.to_owned(),
            row: self.row.and_then(number).unwrap_or_default(),
            id: self.id.and_then(text).unwrap_or_else(|| "without id".to_owned()),
            reason,
        }
    }
}

/// Reads rows of one kind, and records those that are damaged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    conn: &'a Connection,
    source: Source,
}

/// Returns the reading of rows of this kind.
pub(crate) fn reading(conn: &Connection, source: Source) -> Reading<'_> {
    Reading { conn, source }
}

impl Reading<'_> {
    /// Returns a row, or `None` after it was recorded as damaged.
    pub(crate) fn row<T>(
        self,
        row: &Row<'_>,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        match read(row) {
            Ok(value) => Ok(Some(value)),
            Err(fault) => match reason(row, &fault) {
                Some(reason) => {
                    note(self.conn, &self.source.of(row, reason));
                    Ok(None)
                }
                None => Err(fault),
            },
        }
    }

    /// Passes the rows of a query to `each`, except the damaged ones.
    pub(crate) fn each<T>(
        self,
        statement: &mut Statement<'_>,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        mut each: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            if let Some(value) = self.row(row, &read)? {
                each(value)?;
            }
        }
        Ok(())
    }
}

/// Returns what is wrong with a row; `None` for a fault of the database or of the statement.
fn reason(row: &Row<'_>, fault: &rusqlite::Error) -> Option<String> {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    let name = |column: usize| row.as_ref().column_name(column).unwrap_or("a column").to_owned();
    Some(match fault {
        Utf8Error(column, _) => format!("{} is not UTF-8", name(*column)),
        InvalidColumnType(column, _, found) => format!("{} is {found}", name(*column)),
        IntegralValueOutOfRange(column, _) => format!("{} is out of range", name(*column)),
        FromSqlConversionFailure(column, _, reason) => format!("{} {reason}", name(*column)),
        _ => return None,
    })
}
