//! The errors of the engine, split by what the caller can do about them.

use loci_proto::error::{Code, Failure, StorageFault};
use loci_search::index::snapshot::error::FileError;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is refused; the failure names the reason and the next step.
    #[error("{0}")]
    Refused(#[from] Failure),
    /// The file was written by a later version of loci.
    #[error("{path} was written by a newer loci (schema {found}); this one knows schema {known}")]
    NewerDatabase {
        /// The path of the database.
        path: PathBuf,
        /// The schema version of the file.
        found: i64,
        /// The newest schema version that this build supports.
        known: i64,
    },
    /// The file is not a database of loci.
    #[error("{path} is not a loci database: {reason}")]
    NotOurs {
        /// The path of the file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The database contains objects that loci has not created. A trigger among them could change or
    /// delete memories.
    #[error("{path} contains what loci has not created: {objects}; nothing was changed")]
    ForeignSchema {
        /// The path of the database.
        path: PathBuf,
        /// Type and name of each object.
        objects: String,
    },
    /// The file is damaged.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The path of the database.
        path: PathBuf,
        /// The result of the check.
        what: String,
    },
    /// The file is encrypted, and this process does not have its key.
    #[error("{path} is encrypted {reason}; nothing was changed")]
    Encrypted {
        /// The path of the file.
        path: PathBuf,
        /// With which key, and why it is not known.
        reason: String,
        /// The next step.
        hint: String,
    },
    /// Another process uses the database file, perhaps under another name.
    #[error("{path} is in use by another daemon")]
    InUse {
        /// The path of the database.
        path: PathBuf,
    },
    /// The database file with its data is not where it was.
    #[error("{path} {what}")]
    Lost {
        /// The path of the database.
        path: PathBuf,
        /// What happened to it.
        what: String,
    },
    /// The write-ahead log of an open database was removed or replaced.
    #[error("the write-ahead log of {path} was removed or replaced while locid was running")]
    LogLost {
        /// The path of the database.
        path: PathBuf,
    },
    /// The query was encoded by another model than the one whose vectors are searched.
    #[error("the embedding model was changed during the call")]
    OtherModel,
    /// An error of SQLite.
    #[error("the database failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// An error of the file system.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl From<FileError> for Error {
    fn from(FileError { path, source }: FileError) -> Self {
        Self::File { path, source }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(failure) => failure,
            Error::Database(fault) => database_failure(&fault),
            Error::OtherModel => {
                Failure::new(Code::Busy, error.to_string()).hint("Call again in a moment")
            }
            Error::InUse { .. } => Failure::new(Code::Busy, error.to_string())
                .hint("Stop the other daemon, or set LOCI_DB to another file"),
            Error::Encrypted { ref hint, .. } => {
                Failure::new(Code::StorageFailed, error.to_string()).hint(hint.clone())
            }
            Error::Lost { .. } => Failure::new(Code::StorageFailed, error.to_string())
                .hint("Put the file back, or run loci backup restore"),
            Error::ForeignSchema { .. } => Failure::new(Code::StorageFailed, error.to_string())
                .hint("Remove it with another program for SQLite, or run loci backup restore"),
            Error::File { ref source, .. } => {
                let fault = match source.kind() {
                    ErrorKind::StorageFull => StorageFault::Full,
                    ErrorKind::ReadOnlyFilesystem => StorageFault::ReadOnly,
                    _ => StorageFault::Io,
                };
                Failure::new(Code::StorageFailed, error.to_string()).caused_by(fault)
            }
            Error::Damaged { .. } => Failure::new(Code::StorageFailed, error.to_string())
                .hint("Run loci doctor")
                .caused_by(StorageFault::Damaged),
            other => Failure::new(Code::StorageFailed, other.to_string()),
        }
    }
}

fn database_failure(fault: &rusqlite::Error) -> Failure {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DiskFull, ReadOnly, SystemIoFailure};
    match fault.sqlite_error_code() {
        Some(DiskFull) => Failure::new(Code::StorageFailed, "the disk is full; nothing was stored")
            .hint("Free some space and call again")
            .caused_by(StorageFault::Full),
        Some(ReadOnly) => {
            Failure::new(Code::StorageFailed, "the database is read-only; nothing was stored")
                .hint("Make it writable and call again")
                .caused_by(StorageFault::ReadOnly)
        }
        Some(DatabaseBusy) => Failure::new(Code::Busy, "another program holds the database")
            .hint("Close it and call again"),
        code => {
            let cause = match code {
                Some(SystemIoFailure) => Some(StorageFault::Io),
                Some(DatabaseCorrupt) => Some(StorageFault::Damaged),
                _ => None,
            };
            let failure =
                Failure::new(Code::StorageFailed, format!("the database failed: {fault}"));
            Failure { fault: cause, ..failure.hint("Run loci doctor") }
        }
    }
}

impl Error {
    /// Returns whether another connection holds a lock of the database.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Database(fault)
            if fault.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy))
    }

    /// Returns whether the content of the database file is wrong. False for a file that cannot be
    /// read at the moment: a lock, a full disk, missing memory or a failing disk is no damage.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Database(fault) => Self::is_damage_of(fault),
            _ => false,
        }
    }

    /// Returns whether an error of SQLite says that the content of the file is wrong.
    pub(crate) fn is_damage_of(fault: &rusqlite::Error) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        matches!(fault.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }

    /// Returns whether a row could not be inserted because there is one with the same key.
    pub(crate) fn is_duplicate(&self) -> bool {
        use rusqlite::ffi;
        let Self::Database(fault) = self else { return false };
        fault.sqlite_error().is_some_and(|error| {
            matches!(
                error.extended_code,
                ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
            )
        })
    }

    /// Returns whether the store must not be written any more: the database is damaged, or a sync
    /// failed, so that pages which SQLite takes for written may be lost.
    pub(crate) fn is_fatal(&self) -> bool {
        use rusqlite::ffi;
        match self {
            Self::Lost { .. } | Self::LogLost { .. } | Self::Damaged { .. } => true,
            Self::Database(fault) => fault.sqlite_error().is_some_and(|error| {
                matches!(error.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
                    || matches!(
                        error.extended_code & 0xff,
                        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB
                    )
            }),
            Self::Refused(_)
            | Self::NewerDatabase { .. }
            | Self::NotOurs { .. }
            | Self::ForeignSchema { .. }
            | Self::Encrypted { .. }
            | Self::InUse { .. }
            | Self::OtherModel
            | Self::File { .. } => false,
        }
    }
}

/// Returns the error for an id that names no memory, or none that the session can see.
pub(crate) fn not_found(field: &str, id: &str) -> Error {
    Failure::new(Code::NotFound, format!("names no memory that this session can see: {id}"))
        .at(field)
        .hint("Use an id that recall_memory returned, with group if that result has one")
        .into()
}
