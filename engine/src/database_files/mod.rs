//! The database as files: who holds it, which database it is, its write-ahead log as bytes, the
//! checksums of its pages, and copies that are kept aside.
//!
//! SQLite trusts the files that it finds: it replays any write-ahead log whose checksums are right,
//! and takes an empty file for a new database. This module recognises what was put back, replaced,
//! cut or removed before SQLite opens anything. Not here: SQL (`db`), the order of a start
//! (`handles::open`).

pub(crate) mod database_file;
pub(crate) mod difference;
pub(crate) mod identity;
pub(crate) mod page_sums;
pub(crate) mod quarantine;
pub(crate) mod recognition;
pub(crate) mod store_files;
pub(crate) mod wal_file;

use std::path::{Path, PathBuf};

/// Returns the path of a file next to the database, for example `memory.db-wal`.
pub(crate) fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the path of the write-ahead log of a database.
pub(crate) fn wal_path(database: &Path) -> PathBuf {
    with_suffix(database, "-wal")
}
