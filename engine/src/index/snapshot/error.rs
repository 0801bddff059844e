//! The reasons why an index snapshot is not used.

/// Why a snapshot cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SnapshotError {
    /// There is no snapshot.
    Missing,
    /// The file cannot be read.
    Unreadable,
    /// The checksum or the format is wrong.
    Damaged,
    /// It belongs to another state of the database, another model or another build.
    Stale,
}
