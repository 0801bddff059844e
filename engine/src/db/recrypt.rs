//! Copies a database with another key, or without one, and compares every row of the two.
//!
//! `SQLCipher`'s own copy gives rows without an integer key other row numbers; the vectors need theirs.
//! Not here: which files are copied (`encryption::convert`).

use crate::db::connection;
use crate::encryption::{KeyId, header, keys, readable};
use crate::error::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// A table with rows.
struct Table {
    name: String,
    columns: Vec<String>,
    /// The name of its row number; `None` if it has none of its own.
    row_number: Option<&'static str>,
}

/// Copies a closed database, which has no log, into an empty file with this key, or without one.
///
/// # Errors
/// `Encrypted`, `Damaged` if a row differs, `Database`. The source is not changed.
pub(crate) fn copy(from: &Path, to: &Path, key: Option<KeyId>) -> Result<()> {
    let conn = open_target(to, key)?;
    attach(&conn, from)?;
    conn.execute_batch(
        "PRAGMA main.auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF; BEGIN;",
    )?;
    let tables = create_tables(&conn)?;
    for table in &tables {
        fill(&conn, table)?;
    }
    finish_schema(&conn)?;
    conn.execute_batch("COMMIT")?;
    for table in &tables {
        if digest(&conn, "source", table)? != digest(&conn, "main", table)? {
            let what = format!("the rows of {} differ in the copy", table.name);
            return Err(Error::Damaged { path: to.to_path_buf(), what });
        }
    }
    conn.close().map_err(|(_, error)| error.into())
}

fn open_target(path: &Path, key: Option<KeyId>) -> Result<Connection> {
    connection::configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(path, flags)?;
    if let Some(key) = key {
        let found = keys::key(key).ok_or_else(|| missing(path, key))?;
        conn.execute_batch(&format!("PRAGMA key = \"x'{}'\"", found.with_salt()))?;
    }
    Ok(conn)
}

fn missing(path: &Path, id: KeyId) -> Error {
    let (reason, hint) = keys::missing(id);
    Error::Encrypted { path: path.to_path_buf(), reason, hint }
}

fn attach(conn: &Connection, from: &Path) -> Result<()> {
    readable::require_readable(from)?;
    let key = header::key_id_of(from).and_then(keys::key);
    let key = key.map_or_else(String::new, |key| format!("x'{}'", key.with_salt()));
    let uri = format!("file:{}?immutable=1", connection::uri_path(from));
    conn.execute("ATTACH ?1 AS source KEY ?2", (uri, key))?;
    Ok(())
}

/// Creates the tables of the source; returns them.
fn create_tables(conn: &Connection) -> Result<Vec<Table>> {
    let mut found = conn.prepare(
        "SELECT s.name, s.sql, l.wr FROM source.sqlite_schema AS s \
         JOIN pragma_table_list AS l ON l.schema = 'source' AND l.name = s.name \
         WHERE s.type = 'table' AND s.rootpage > 0 AND s.sql IS NOT NULL \
         AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid",
    )?;
    let rows = found.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    })?;
    let mut tables = Vec::new();
    for row in rows {
        let (name, sql, is_without_row_numbers) = row?;
        conn.execute_batch(&sql)?;
        let (columns, has_integer_key) = columns_of(conn, &name)?;
        let is_free = |alias: &&str| !columns.iter().any(|name| name.eq_ignore_ascii_case(alias));
        let is_own = !is_without_row_numbers && !has_integer_key;
        let row_number =
            is_own.then(|| ["_rowid_", "oid", "rowid"].into_iter().find(is_free)).flatten();
        tables.push(Table { name, columns, row_number });
    }
    if has_table(conn, "sqlite_sequence")? {
        tables.push(Table {
            name: "sqlite_sequence".to_owned(),
            columns: vec!["name".to_owned(), "seq".to_owned()],
            row_number: Some("rowid"),
        });
    }
    Ok(tables)
}

fn has_table(conn: &Connection, name: &str) -> Result<bool> {
    Ok(conn.prepare("SELECT 1 FROM source.sqlite_schema WHERE name = ?1")?.exists([name])?)
}

/// Returns the columns of a table, and whether one of them is its row number.
fn columns_of(conn: &Connection, table: &str) -> Result<(Vec<String>, bool)> {
    let mut found = conn.prepare("SELECT name, type, pk FROM pragma_table_info(?1, 'source')")?;
    let rows = found.query_map([table], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    })?;
    let columns = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let keys: Vec<_> = columns.iter().filter(|(_, _, key)| *key > 0).collect();
    let has_integer_key =
        matches!(keys[..], [(_, kind, _)] if kind.eq_ignore_ascii_case("INTEGER"));
    Ok((columns.into_iter().map(|(name, _, _)| name).collect(), has_integer_key))
}

impl Table {
    /// Returns the columns as SQL, the row number first.
    fn list(&self) -> String {
        let quoted = self.columns.iter().map(|name| quoted(name));
        self.row_number.map(str::to_owned).into_iter().chain(quoted).collect::<Vec<_>>().join(", ")
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn fill(conn: &Connection, table: &Table) -> Result<()> {
    let (name, columns) = (quoted(&table.name), table.list());
    if table.name == "sqlite_sequence" {
        // The rows that were inserted before have filled it.
        conn.execute_batch("DELETE FROM main.sqlite_sequence")?;
    }
    conn.execute(
        &format!("INSERT INTO main.{name}({columns}) SELECT {columns} FROM source.{name}"),
        [],
    )?;
    Ok(())
}

/// Creates indexes; writes virtual tables, triggers and views as rows of the schema, as `VACUUM` does;
/// and copies the numbers in the header.
fn finish_schema(conn: &Connection) -> Result<()> {
    let mut found = conn.prepare(
        "SELECT sql FROM source.sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid",
    )?;
    for sql in found.query_map([], |row| row.get::<_, String>(0))? {
        conn.execute_batch(&sql?)?;
    }
    conn.execute_batch(
        "PRAGMA writable_schema = ON;
         INSERT INTO main.sqlite_schema SELECT type, name, tbl_name, 0, sql FROM source.sqlite_schema
           WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0);
         PRAGMA writable_schema = RESET;",
    )?;
    for number in ["user_version", "application_id"] {
        let value: i64 =
            conn.query_row(&format!("PRAGMA source.{number}"), [], |row| row.get(0))?;
        conn.execute_batch(&format!("PRAGMA main.{number} = {value}"))?;
    }
    Ok(())
}

/// Returns a digest of all rows of a table, with their row numbers.
fn digest(conn: &Connection, schema: &str, table: &Table) -> Result<blake3::Hash> {
    let columns = table.list();
    let mut statement = conn
        .prepare(&format!("SELECT {columns} FROM {schema}.{} NOT INDEXED", quoted(&table.name)))?;
    let count = statement.column_count();
    let (mut rows, mut hasher) = (statement.query([])?, blake3::Hasher::new());
    while let Some(row) = rows.next()? {
        for column in 0..count {
            let (kind, bytes) = match row.get_ref(column)? {
                ValueRef::Null => (0, Vec::new()),
                ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
                ValueRef::Real(number) => (2, number.to_bits().to_le_bytes().to_vec()),
                ValueRef::Text(text) => (3, text.to_vec()),
                ValueRef::Blob(bytes) => (4, bytes.to_vec()),
            };
            hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
        }
    }
    Ok(hasher.finalize())
}
