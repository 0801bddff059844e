//! The reasons why an index snapshot is not used, and why it is not written.

use std::io;
use std::path::PathBuf;

/// A file of the snapshot that cannot be written or removed.
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub source: io::Error,
}

/// Why a snapshot cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotError {
    /// There is no snapshot.
    Missing,
    /// The file cannot be read.
    Unreadable,
    /// The checksum or the format is wrong.
    Damaged,
    /// It belongs to another state of the database, another model or another build.
    Stale,
}
