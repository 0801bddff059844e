//! Opens the database file: one writing connection and any number of read-only connections.
//!
//! Not here: the schema (`migrate`), checkpoints (`health`).

use crate::db::cipher;
use crate::encryption::{KeyId, readable};
use crate::error::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Transaction};
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

/// The oldest SQLite that is safe with several connections: 3.51.3 fixed the WAL-reset race.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

/// How long a statement waits for a lock of another connection.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The same for work of the background.
pub(crate) const BACKGROUND_TIMEOUT: Duration = Duration::from_millis(200);

/// Opens the database for writing. The file has to exist; without content it gets the key `new`.
///
/// # Errors
/// `File` if the file cannot be created, `NotOurs` if it is not a database, `Encrypted`, `Database`
/// otherwise.
pub(crate) fn writer(path: &Path, new: Option<KeyId>) -> Result<Connection> {
    configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    let is_encrypted = cipher::unlock(&conn, path, new)?;
    set_checkpoint_on_close(&conn, false)?;
    // The first statement reads the header: a file that is not a database fails here, before
    // anything is changed.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .map_err(|error| open_error(path, error, is_encrypted))?;
    set_common_options(&conn)?;
    Ok(conn)
}

/// Sets whether closing the connection moves the log into the database and removes it. That is off
/// unless a store is closed as a whole: without the checksums and the identity, the next start would
/// miss the log.
pub(crate) fn set_checkpoint_on_close(conn: &Connection, is_on: bool) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_on)?;
    Ok(())
}

/// Sets the durability pragmas. They change the file's header, so call this only once the file is
/// known to be ours.
pub(crate) fn make_durable(conn: &Connection) -> Result<()> {
    // FULL: an acknowledged store survives power loss. The daemon runs the checkpoints, since
    // SQLite ignores the errors of automatic ones.
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 16777216;
         PRAGMA secure_delete = ON; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON;",
    )?;
    Ok(())
}

/// Opens the database for reading; no statement of this connection can change it.
///
/// # Errors
/// `Database` if the file cannot be opened.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    cipher::unlock(&conn, path, None)?;
    set_common_options(&conn)?;
    conn.execute_batch("PRAGMA query_only = ON;")?;
    // The first read opens the log. A log that loses its name later is still read. This one does not
    // parse the schema.
    conn.pragma_query(None, "schema_version", |_| Ok(()))?;
    Ok(conn)
}

/// Opens a database that nothing can write, without creating a file beside it: on a full disk, or a
/// read-only file system. The caller makes sure that no other connection writes meanwhile.
///
/// # Errors
/// As [`reader`].
pub(crate) fn reader_without_files(path: &Path) -> Result<Connection> {
    configure_sqlite();
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0);
    // Without a log the file alone is the database. With one, SQLite keeps the index of the log in
    // memory if it needs no lock.
    let option = if has_log { "vfs=unix-none" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(format!("file:{}?{option}", uri_path(path)), flags)?;
    set_checkpoint_on_close(&conn, false)?;
    let is_encrypted = cipher::unlock(&conn, path, None)?;
    if has_log {
        conn.execute_batch("PRAGMA locking_mode = EXCLUSIVE;")?;
    }
    set_common_options(&conn)?;
    conn.execute_batch("PRAGMA query_only = ON;")?;
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .map_err(|error| open_error(path, error, is_encrypted))?;
    Ok(conn)
}

/// Opens the file alone for reading, as if it had no log. Takes no lock; the file must not be the
/// open store of this process.
///
/// # Errors
/// `Encrypted`; `Database` if the file cannot be opened.
pub(crate) fn immutable(path: &Path) -> Result<Connection> {
    configure_sqlite();
    readable::require_readable(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{}?immutable=1", uri_path(path));
    let conn = Connection::open_with_flags(uri, flags)?;
    cipher::unlock(&conn, path, None)?;
    conn.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    Ok(conn)
}

/// Returns a path as part of a URI: every byte but the plain ones is `%` and two digits.
pub(crate) fn uri_path(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let part = |byte: &u8| match *byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.as_os_str().as_encoded_bytes().iter().map(part).collect()
}

/// Moves all pages from the write-ahead log into the database file and empties the log.
pub(crate) fn truncate_log(conn: &Connection) -> Result<()> {
    Ok(conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
}

/// Begins a write transaction for several changes.
pub(crate) fn begin(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("BEGIN IMMEDIATE")?)
}

/// Defers foreign keys: until the transaction ends, a row may be inserted before the row it refers
/// to.
///
/// SQLite then prepares every statement again, so call it only where it is needed.
pub(crate) fn defer_foreign_keys(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("PRAGMA defer_foreign_keys = ON")?)
}

/// Begins a read transaction, in which all reads see one state of the store; `None` if one is open.
pub(crate) fn begin_read(conn: &Connection) -> Result<Option<Transaction<'_>>> {
    Ok(if conn.is_autocommit() { Some(conn.unchecked_transaction()?) } else { None })
}

/// Begins a transaction of a read-only connection that lasts until it is closed, and lets it create
/// temporary tables.
pub(crate) fn begin_temporary(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("PRAGMA query_only = OFF; BEGIN")?)
}

/// Ends what [`begin_temporary`] permits; the transaction stays open.
pub(crate) fn end_temporary(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("PRAGMA query_only = ON")?)
}

/// Commits the transaction.
pub(crate) fn commit(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("COMMIT")?)
}

/// Rolls the transaction back.
pub(crate) fn roll_back(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("ROLLBACK")?)
}

/// Raises the page cache to 16 MiB for a long transaction, so that a page that is written
/// repeatedly is not spilled to the write-ahead log each time. A larger cache is not faster, since
/// most pages do not change any more once they are full.
pub(crate) fn enlarge_page_cache(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("PRAGMA cache_size = -16384")?)
}

/// Restores SQLite's default page cache of 2 MiB.
pub(crate) fn restore_page_cache(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("PRAGMA cache_size = -2000; PRAGMA shrink_memory;")?)
}

/// Returns SQLite's error for a full disk, for a transaction that SQLite has rolled back.
pub(crate) fn disk_full_error() -> Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None)
        .into()
}

/// Returns the size of a page in bytes.
pub(crate) fn page_size(conn: &Connection) -> Result<u32> {
    let size = conn.pragma_query_value(None, "page_size", |row| match row.get_ref(0)? {
        // SQLCipher answers with a text.
        ValueRef::Text(digits) => Ok(std::str::from_utf8(digits).unwrap_or_default().parse().ok()),
        _ => row.get(0).map(Some),
    })?;
    Ok(size.unwrap_or_default())
}

/// Sets the options of the writing and the read-only connections.
fn set_common_options(conn: &Connection) -> Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Classifies the error of the first statement.
fn open_error(path: &Path, error: rusqlite::Error, is_encrypted: bool) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) if is_encrypted => Error::Damaged {
            path: path.to_path_buf(),
            what: "its first page cannot be decrypted".to_owned(),
        },
        Some(rusqlite::ErrorCode::NotADatabase) => Error::NotOurs {
            path: path.to_path_buf(),
            reason: "it is not an SQLite database".to_owned(),
        },
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            Error::Damaged { path: path.to_path_buf(), what: error.to_string() }
        }
        _ => Error::Database(error),
    }
}

/// Configures SQLite for this process: registers `vec0`, and disables memory accounting, which
/// takes a process-wide lock at each allocation.
pub(crate) fn configure_sqlite() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the option takes one plain integer. If SQLite is already initialised, it refuses
        // the option and accounting stays on.
        unsafe { rusqlite::ffi::sqlite3_config(rusqlite::ffi::SQLITE_CONFIG_MEMSTATUS, 0) };
        assert!(
            rusqlite::version_number() >= MIN_SQLITE_VERSION,
            "SQLite {} has the WAL-reset race",
            rusqlite::version()
        );
        // SAFETY: `sqlite3_vec_init` is the extension's entry point with the signature that SQLite
        // calls; the crate declares it without arguments, so the pointer must be cast.
        unsafe {
            type Entry = unsafe extern "C" fn(
                *mut rusqlite::ffi::sqlite3,
                *mut *mut std::ffi::c_char,
                *const rusqlite::ffi::sqlite3_api_routines,
            ) -> std::ffi::c_int;
            let entry: Entry = std::mem::transmute(sqlite_vec::sqlite3_vec_init as *const ());
            rusqlite::ffi::sqlite3_auto_extension(Some(entry));
        }
    });
}

/// Begins a trial within a transaction: [`end_trial`] takes everything back.
pub(crate) fn begin_trial(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("SAVEPOINT trial")?)
}

/// Ends a trial.
pub(crate) fn end_trial(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("ROLLBACK TO trial; RELEASE trial")?)
}
