//! Reads tables of the SQLite databases of other programs. Never writes, never opens loci's own.

use crate::db::connection;
use crate::error::{Error, Result};
use loci_proto::error::{Code, Failure};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Number, Value};
use std::path::{Path, PathBuf};

/// Maximum number of rows of a table.
const MAX_ROWS: usize = 1_000_000;

/// A database of another program.
#[derive(Debug)]
pub(crate) struct ForeignStore {
    pub(in crate::db) conn: Connection,
    path: PathBuf,
}

impl ForeignStore {
    /// Opens a file for reading, also while its program writes. Nothing is created beside it, and
    /// neither the file nor its log is changed.
    ///
    /// # Errors
    /// `invalid` if it is not an SQLite database.
    pub fn open(path: &Path) -> Result<Self> {
        // SQLite would wait for somebody to write into a named pipe.
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            let message = format!("{} is not a file", path.display());
            return Err(Failure::new(Code::Invalid, message).into());
        }
        let opened = match (size_of_companion(path, "-wal"), size_of_companion(path, "-shm")) {
            // A program has it open, or was killed: the index of the log coordinates with it.
            (Some(_), Some(_)) => {
                connection::configure_sqlite();
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
                Connection::open_with_flags(path, flags).map_err(Into::into)
            }
            // SQLite would create the index of the log, and leave it there.
            (Some(1..), None) => connection::reader_without_files(path),
            _ => connection::immutable(path),
        };
        let store = opened.and_then(|conn| {
            conn.busy_timeout(connection::BUSY_TIMEOUT)?;
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(Self { conn, path: path.to_path_buf() })
        });
        store.map_err(|error| {
            let reason = match error {
                Error::NotOurs { reason, .. } => reason,
                other => other.to_string(),
            };
            let message =
                format!("{} cannot be read as an SQLite database: {reason}", path.display());
            Failure::new(Code::Invalid, message).into()
        })
    }

    /// Returns whether the database has a table.
    pub fn has_table(&self, table: &str) -> Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        Ok(self.conn.query_row(sql, [table], |row| row.get::<_, i64>(0))? > 0)
    }

    /// Returns every row of a table, in storage order, as an object of its columns without the
    /// binary ones.
    ///
    /// # Errors
    /// `invalid` if there is no such table.
    pub fn rows(&self, table: &'static str) -> Result<Vec<Map<String, Value>>> {
        if !self.has_table(table)? {
            let message = format!("{} has no table {table}", self.path.display());
            return Err(Failure::new(Code::Invalid, message)
                .hint("Name the database of the program that --from names")
                .into());
        }
        let mut statement =
            self.conn.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY rowid"))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if found.len() == MAX_ROWS {
                let message = format!("{table} has more than {MAX_ROWS} rows");
                return Err(Failure::new(Code::TooMany, message).into());
            }
            found.push(object(row, &names)?);
        }
        Ok(found)
    }
}

/// Returns the size of a file whose name is that of the database with an ending.
fn size_of_companion(path: &Path, ending: &str) -> Option<u64> {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Path::new(&name).metadata().ok().map(|meta| meta.len())
}

fn object(row: &Row<'_>, names: &[String]) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (column, name) in names.iter().enumerate() {
        let value = match row.get_ref(column)? {
            ValueRef::Null | ValueRef::Blob(_) => continue,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}
