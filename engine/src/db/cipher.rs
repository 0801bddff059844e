//! The keys of connections: an encrypted file is opened with the key that its first bytes name, and a
//! database is copied with another key or without one.
//!
//! Without the feature `encrypted` nothing here does anything: a file that is encrypted is refused
//! before it gets here. Not here: the keys (`encryption::keys`).

use crate::encryption::KeyId;
#[cfg(feature = "encrypted")]
use crate::encryption::{header, keys, readable};
use crate::error::Result;
use rusqlite::Connection;
use std::path::Path;

/// Gives a connection the key of its file, before the first statement. A file without content gets
/// `new`. Returns whether the file is encrypted.
///
/// # Errors
/// `Encrypted` if this process does not have the key.
#[cfg(feature = "encrypted")]
pub(crate) fn unlock(conn: &Connection, path: &Path, new: Option<KeyId>) -> Result<bool> {
    let id = match first_bytes(conn)? {
        Some(first) => header::key_id_in(&first),
        None => new,
    };
    let Some(id) = id else { return Ok(false) };
    readable::require_key(path, id)?;
    let Some(key) = keys::key(id) else { return Ok(false) };
    conn.execute_batch(&format!(
        "PRAGMA cipher_log_level = NONE; PRAGMA key = \"x'{}'\";",
        key.with_salt()
    ))?;
    Ok(true)
}

/// Does nothing.
#[cfg(not(feature = "encrypted"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as with the feature")]
pub(crate) fn unlock(_: &Connection, _: &Path, _: Option<KeyId>) -> Result<bool> {
    Ok(false)
}

/// Returns the key of the file of an open connection; `None` if it is not encrypted.
#[cfg(feature = "encrypted")]
pub(crate) fn key_of(conn: &Connection) -> Option<KeyId> {
    first_bytes(conn).ok().flatten().and_then(|first| header::key_id_in(&first))
}

/// Returns `None`.
#[cfg(not(feature = "encrypted"))]
pub(crate) fn key_of(_: &Connection) -> Option<KeyId> {
    None
}

/// Reads the first bytes of the file through the descriptor of the connection: opening the file would
/// release SQLite's locks on it when it is closed. `None` if the file has no content.
#[cfg(feature = "encrypted")]
fn first_bytes(conn: &Connection) -> Result<Option<[u8; header::HEADER_BYTES]>> {
    use rusqlite::ffi;
    let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
    let mut first = [0_u8; header::HEADER_BYTES];
    let Ok(length) = i32::try_from(first.len()) else { return Ok(None) };
    // SAFETY: the connection is open and used by this thread alone. SQLite writes a pointer to the
    // file of the database `main`, which lives as long as the connection, or leaves it as it is.
    let code = unsafe {
        let code = ffi::sqlite3_file_control(
            conn.handle(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_FILE_POINTER,
            (&raw mut file).cast(),
        );
        match file.as_ref().and_then(|open| open.pMethods.as_ref()).and_then(|made| made.xRead) {
            // SAFETY (of the call): the buffer has the length that is given.
            Some(read) if code == ffi::SQLITE_OK => {
                read(file, first.as_mut_ptr().cast(), length, 0)
            }
            _ => ffi::SQLITE_IOERR_SHORT_READ,
        }
    };
    match code {
        ffi::SQLITE_OK => Ok(Some(first)),
        ffi::SQLITE_IOERR_SHORT_READ => Ok(None),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()),
    }
}
