//! Copies the database to a file, describes and checks such a copy, and empties a store.

use crate::backups::manifest::Contents;
use crate::db::{cipher, connection, health, integrity, lexical, vectors};
use crate::duplicate::content_hash;
use crate::encryption::KeyId;
use crate::error::{Error, Result};
use loci_proto::memory::MemoryId;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, Transaction};
use std::path::Path;

/// Every table with stored data, each before the tables that it refers to.
const TABLES: [&str; 24] = [
    "bridge_statements",
    "bridge_versions",
    "bridge_texts",
    "bridge_files",
    "bridge_projects",
    "bridge_clients",
    "hook_memories",
    "hook_events",
    "known_answers",
    "relation_evidence",
    "entity_relations",
    "mentions",
    "memory_sources",
    "memory_variants",
    "memory_pieces",
    "memories",
    "memory_log",
    "journal",
    "idempotency",
    "tombstones",
    "clusters",
    "group_aliases",
    "folders",
    "groups",
];

/// Pages of one part of a copy: 1 MiB.
const PART_PAGES: i32 = 256;

/// Writes a compact copy of the database into a file that is missing or empty.
pub(crate) fn copy(conn: &Connection, into: &Path) -> Result<()> {
    conn.execute("VACUUM INTO ?1", [into.to_string_lossy()])?;
    Ok(())
}

/// Copies the state that a read transaction sees into an empty file, part by part. `between` is
/// called between two parts; its error ends the copy.
pub(crate) fn copy_in_parts(
    source: &Transaction<'_>,
    into: &Path,
    between: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let mut target = open_copy(into, cipher::key_of(source))?;
    // The file is synced once, when it is complete.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let backup = Backup::new(source, &mut target)?;
    loop {
        match backup.step(PART_PAGES)? {
            StepResult::Done => return Ok(()),
            StepResult::More => between()?,
            _ => return Err(busy().into()),
        }
    }
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

/// Opens a copy; one without content gets the key `new`.
fn open_copy(path: &Path, new: Option<KeyId>) -> Result<Connection> {
    connection::configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    cipher::unlock(&conn, path, new)?;
    Ok(conn)
}

/// Makes a copy a database without a write-ahead log, so that it is one file and reading it creates
/// no other, and checks its keyword index, which needs a writing connection.
///
/// # Errors
/// `Damaged` if the keyword index differs from the texts.
pub(crate) fn seal(path: &Path) -> Result<()> {
    let conn = open_copy(path, None)?;
    conn.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;",
    )?;
    let mode: String = conn.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    if mode != "delete" {
        let what = format!("the copy has the journal mode {mode}");
        return Err(Error::Damaged { path: path.to_path_buf(), what });
    }
    integrity::words(&conn).map_err(|error| {
        let what = format!("the keyword index differs from the texts: {error}");
        Error::Damaged { path: path.to_path_buf(), what }
    })?;
    conn.close().map_err(|(_, error)| error.into())
}

/// Begins a read transaction, which sees one state until it ends.
pub(crate) fn snapshot(conn: &Connection) -> Result<Transaction<'_>> {
    Ok(conn.unchecked_transaction()?)
}

/// Describes the state that a connection sees.
pub(crate) fn contents(conn: &Connection) -> Result<Contents> {
    let count = |table: &str| -> Result<usize> {
        let rows: i64 =
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        Ok(usize::try_from(rows).unwrap_or(0))
    };
    let (rows, damaged) = digest_of_rows(conn)?;
    Ok(Contents {
        database: health::database_uuid(conn)?,
        schema: integrity::schema(conn)?,
        last_change: health::last_change(conn)?,
        memories: count("memories")?,
        relations: count("entity_relations")?,
        groups: count("groups")?,
        rows,
        damaged,
    })
}

/// Returns a digest of the ids and content hashes of all memories, in storage order, and the number
/// of memories whose text does not match its hash.
fn digest_of_rows(conn: &Connection) -> Result<(String, usize)> {
    let mut hasher = blake3::Hasher::new();
    let mut damaged = 0;
    let mut statement =
        conn.prepare("SELECT id, content_hash, content FROM memories ORDER BY seq")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..2 {
            hasher.update(row.get_ref(column)?.as_bytes().unwrap_or_default());
            hasher.update(&[0]);
        }
        let text = row.get_ref(2)?.as_str().ok();
        let hash = text.map(content_hash::hash);
        damaged +=
            usize::from(hash.as_ref().map(|hash| &hash[..]) != row.get_ref(1)?.as_blob().ok());
    }
    Ok((hasher.finalize().to_hex().to_string(), damaged))
}

/// Checks every page of a copy and describes it. Creates no file beside it.
///
/// # Errors
/// `Damaged` with the first fault, `Database`.
pub(crate) fn examine(path: &Path) -> Result<Contents> {
    let conn = connection::immutable(path)?;
    let damaged = |what: String| Error::Damaged { path: path.to_path_buf(), what };
    let found: String = conn
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| damaged(error.to_string()))?;
    if found != "ok" {
        return Err(damaged(found));
    }
    contents(&conn)
}

/// Returns whether a copy contains a memory.
pub(crate) fn contains(path: &Path, id: &MemoryId) -> Result<bool> {
    let conn = connection::immutable(path)?;
    Ok(conn.prepare("SELECT 1 FROM memories WHERE id = ?1")?.exists([id.as_str()])?)
}

/// Deletes all stored data. Row numbers are not assigned a second time.
pub(crate) fn delete_all(conn: &Connection) -> Result<()> {
    let _triggers_off = lexical::TriggersOff::begin(conn)?;
    lexical::delete_all(conn)?;
    vectors::delete_all(conn)?;
    for table in TABLES {
        conn.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}
