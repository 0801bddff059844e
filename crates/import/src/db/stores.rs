//! Reads tables of the SQLite databases of other programs. Never writes, never opens loci's own.

use crate::error::Result;
use crate::rows::{Fields, Record};
use loci_proto::error::{Code, Failure};
use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Number, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for a program that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
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
            return Err(Failure::new(Code::Invalid, message));
        }
        let opened = match (size_of_companion(path, "-wal"), size_of_companion(path, "-shm")) {
            // A program has it open, or was killed: the index of the log coordinates with it.
            (Some(_), Some(_)) => {
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            }
            // SQLite would create the index of the log, and leave it there: without locks it keeps
            // it in memory.
            (Some(1..), None) => open_with(path, "vfs=unix-none"),
            _ => open_with(path, "immutable=1"),
        };
        let checked = opened.and_then(|conn| {
            conn.busy_timeout(BUSY_TIMEOUT)?;
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(Self { conn, path: path.to_path_buf() })
        });
        checked.map_err(|error| {
            let message =
                format!("{} cannot be read as an SQLite database: {error}", path.display());
            Failure::new(Code::Invalid, message)
        })
    }

    /// Returns the failure for an error of `SQLite`.
    pub(in crate::db) fn unreadable(&self, error: &rusqlite::Error) -> Failure {
        let message = format!("{} cannot be read completely: {error}", self.path.display());
        Failure::new(Code::Invalid, message)
    }

    /// Returns whether the database has a table.
    pub fn has_table(&self, table: &str) -> Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let count = self.conn.query_row(sql, [table], |row| row.get::<_, i64>(0));
        Ok(count.map_err(|error| self.unreadable(&error))? > 0)
    }

    /// Returns every row of a table, in storage order, as a record of its columns. Of binary ones it has the size.
    ///
    /// # Errors
    /// `invalid` if there is no such table.
    pub fn rows(&self, table: &'static str) -> Result<Vec<Record>> {
        if !self.has_table(table)? {
            let message = format!("{} has no table {table}", self.path.display());
            return Err(Failure::new(Code::Invalid, message)
                .hint("Name the database of the program that --from names"));
        }
        match self.read_rows(table) {
            Ok(rows) if rows.len() > MAX_ROWS => {
                let message = format!("{table} has more than {MAX_ROWS} rows");
                Err(Failure::new(Code::TooMany, message))
            }
            rows => rows.map_err(|error| self.unreadable(&error)),
        }
    }

    /// Reads at most one row more than a table may have.
    fn read_rows(&self, table: &str) -> rusqlite::Result<Vec<Record>> {
        let mut statement =
            self.conn.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY rowid"))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let place = format!("row {} of {table}", found.len() + 1);
            found.push(Record { fields: fields(row, &names)?, place });
            if found.len() > MAX_ROWS {
                break;
            }
        }
        Ok(found)
    }
}

/// Opens a database without creating a file beside it.
fn open_with(path: &Path, option: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(format!("file:{}?{option}", uri_path(path)), flags)?;
    conn.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON;",
    )?;
    Ok(conn)
}

/// Returns a path as part of a URI: every byte but the plain ones is `%` and two digits.
fn uri_path(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let part = |byte: &u8| match *byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.as_os_str().as_encoded_bytes().iter().map(part).collect()
}

/// Returns the size of a file whose name is that of the database with an ending.
fn size_of_companion(path: &Path, ending: &str) -> Option<u64> {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Path::new(&name).metadata().ok().map(|meta| meta.len())
}

fn fields(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Fields> {
    let mut fields = Fields::new();
    for (column, name) in names.iter().enumerate() {
        let value = match row.get_ref(column)? {
            ValueRef::Null => continue,
            ValueRef::Blob(bytes) => match str::from_utf8(bytes) {
                Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => {
                    Value::from(text)
                }
                _ => json!({"bytes": bytes.len()}),
            },
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}
