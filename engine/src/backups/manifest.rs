//! The list of backups: a database file each, and its manifest with counts, digests and the outcome
//! of the last verification.
//!
//! Not here: writing and reading the databases (`create`, `verify`).

use crate::error::{Error, Result};
use crate::model::time::{Timestamp, moment_of};
use loci_proto::error::{Code, Failure};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Names of files that are not complete begin with this.
pub(crate) const TEMPORARY: &str = ".tmp-";
/// The names of backups begin with this.
const PREFIX: &str = "memory-";
/// Manifests of more bytes are not read.
const MAX_MANIFEST_BYTES: u64 = 64 << 10;

/// Why a backup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The store had changed since the last daily backup.
    Daily,
    /// A person asked for it.
    Manual,
    /// Before the schema is migrated.
    Migration,
    /// Before an import.
    Import,
    /// Before a maintenance run that compacts or promotes.
    Maintenance,
    /// Before a reset.
    Reset,
    /// Before another backup is restored.
    Restore,
    /// It has no manifest: an earlier version of loci or a person made it.
    #[default]
    Unknown,
}

impl Reason {
    /// Returns the reason as it appears in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Manual => "manual",
            Self::Migration => "migration",
            Self::Import => "import",
            Self::Maintenance => "maintenance",
            Self::Reset => "reset",
            Self::Restore => "restore",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether loci may delete such a backup when newer ones exist.
    #[must_use]
    pub fn is_automatic(self) -> bool {
        !matches!(self, Self::Manual | Self::Reset | Self::Unknown)
    }
}

/// What the manifest says about a backup.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The backups of a folder are numbered in the order in which they were made.
    pub number: u64,
    /// Why it was made.
    pub reason: Reason,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// The version of loci that made it.
    pub loci: String,
    /// The state of the store that it contains.
    pub contents: Contents,
    /// Its size in bytes.
    pub bytes: u64,
    /// BLAKE3 of the file.
    pub digest: String,
    /// BLAKE3 of the file before it was encrypted or decrypted, while it is being replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// When it was last verified, in milliseconds since 1970.
    pub verified_at: Option<i64>,
    /// When it was last opened and searched as a test, in milliseconds since 1970.
    pub drilled_at: Option<i64>,
    /// What the last verification or drill found wrong.
    pub fault: Option<String>,
}

/// The state of a store: its counts, and a digest of its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Contents {
    /// The id of the database.
    pub database: String,
    /// The version of its schema.
    pub schema: i64,
    /// The number of its last change.
    pub last_change: i64,
    /// Memories of any status.
    pub memories: usize,
    /// Relations.
    pub relations: usize,
    /// Projects.
    pub groups: usize,
    /// BLAKE3 of the ids and the content hashes of all memories.
    pub rows: String,
    /// Memories whose text does not match its hash: the store was damaged when the backup was made.
    pub damaged: usize,
}

/// A backup in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// The database file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was made: as the manifest says, or as its name says.
    pub created_at: Timestamp,
    /// The manifest; `None` if there is none that can be read.
    pub manifest: Option<Manifest>,
}

impl Backup {
    /// Returns the id: the name of the file without its extension.
    #[must_use]
    pub fn id(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns why it was made.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.manifest.as_ref().map_or(Reason::Unknown, |manifest| manifest.reason)
    }

    /// Returns whether the last verification found it whole.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.manifest.as_ref().is_some_and(|m| m.verified_at.is_some() && m.fault.is_none())
    }

    /// Returns whether it may be one of this database; an id that is not known may be any.
    #[must_use]
    pub fn is_of(&self, database: Option<&str>) -> bool {
        match (database, &self.manifest) {
            (Some(id), Some(manifest)) => manifest.contents.database == id,
            _ => true,
        }
    }

    /// Returns whether texts were damaged when it was made.
    #[must_use]
    pub fn has_damage(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.contents.damaged > 0)
    }

    /// Reads one backup; `None` if the file does not exist.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let manifest = read_manifest(path);
        let modified = || {
            let since_1970 = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since_1970.as_millis()).ok().map(Timestamp)
        };
        let created_at = manifest
            .as_ref()
            .map(|manifest| Timestamp(manifest.created_at))
            .or_else(|| time_in_name(path))
            .or_else(modified)
            .unwrap_or(Timestamp(0));
        Some(Self { path: path.to_path_buf(), bytes: found.len(), created_at, manifest })
    }
}

/// Returns all backups of a folder, oldest first.
#[must_use]
pub fn list(folder: &Path) -> Vec<Backup> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_backup = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "db") && !name.starts_with('.')
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut backups: Vec<Backup> =
        paths.filter(is_backup).filter_map(|path| Backup::read(&path)).collect();
    backups.sort_by(|a, b| (a.created_at, &a.path).cmp(&(b.created_at, &b.path)));
    backups
}

/// Returns the backup that an id names: `latest`, the name without extension, or a part from its
/// beginning that no other name has.
///
/// # Errors
/// `not_found` if there is none, `invalid` if there are several.
pub fn find(folder: &Path, id: &str) -> Result<Backup> {
    let mut backups = list(folder);
    let is_named = |backup: &Backup, name: &str| {
        backup.id() == name || backup.id().strip_prefix(PREFIX) == Some(name)
    };
    let id = id.strip_suffix(".db").unwrap_or(id);
    if id == "latest"
        && let Some(newest) = backups.pop()
    {
        return Ok(newest);
    }
    if let Some(exact) = backups.iter().find(|backup| is_named(backup, id)) {
        return Ok(exact.clone());
    }
    let begins = |backup: &Backup| {
        backup.id().starts_with(id)
            || backup.id().strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with(id))
    };
    let mut matching: Vec<Backup> = backups.into_iter().filter(begins).collect();
    match matching.len() {
        _ if id.is_empty() => {
            Err(Failure::invalid("backup", "must not be empty").hint("Run loci backup list").into())
        }
        1 => Ok(matching.remove(0)),
        0 => Err(Failure::new(Code::NotFound, format!("there is no backup {id}"))
            .hint("Run loci backup list")
            .into()),
        count => {
            let names: Vec<String> = matching.iter().take(5).map(Backup::id).collect();
            let message = format!("{count} backups begin with {id}: {}", names.join(", "));
            Err(Failure::new(Code::Invalid, message).at("backup").hint("Write more of it").into())
        }
    }
}

/// Returns the path of the manifest of a backup.
pub(crate) fn manifest_path(backup: &Path) -> PathBuf {
    backup.with_extension("json")
}

fn read_manifest(backup: &Path) -> Option<Manifest> {
    let path = manifest_path(backup);
    let size = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
    if size > MAX_MANIFEST_BYTES {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Writes the manifest of a backup, whole or not at all.
///
/// # Errors
/// `File`.
pub(crate) fn write_manifest(backup: &Path, manifest: &Manifest) -> Result<()> {
    let path = manifest_path(backup);
    let temporary = path.with_file_name(format!("{TEMPORARY}{}", uuid::Uuid::now_v7().simple()));
    let write = || {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.lock()?;
        file.write_all(&serde_json::to_vec_pretty(manifest)?)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        failed(&path, error)
    })
}

/// Removes a backup and its manifest.
///
/// # Errors
/// `File` if the backup cannot be removed.
pub(crate) fn remove(backup: &Path) -> Result<()> {
    std::fs::remove_file(backup).map_err(|error| failed(backup, error))?;
    // A manifest without a backup is not listed.
    let _ = std::fs::remove_file(manifest_path(backup));
    Ok(())
}

/// Marks a temporary file or folder as in use until the result is dropped, so that a process with
/// another database does not remove it.
///
/// # Errors
/// `File`.
pub(crate) fn mark_in_use(path: &Path) -> Result<File> {
    let lock = || {
        let file = File::open(path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(|error| failed(path, error))
}

fn is_in_use(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}

/// Removes what an interrupted backup or drill has left.
pub(crate) fn remove_temporary(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) && !is_in_use(&entry.path()) {
            // What cannot be removed is not listed; the next backup tries again.
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
                _ => std::fs::remove_file(entry.path()),
            };
        }
    }
}

/// Writes a folder to the disk, so that a renamed file keeps its name.
///
/// # Errors
/// `File`.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(|error| failed(folder, error))
}

/// Returns the error of a file.
pub(crate) fn failed(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.to_path_buf(), source }
}

/// Returns the digits of a time as names contain them: `20260210T083000Z`.
fn digits(now: Timestamp) -> String {
    let time: String = now.iso().chars().take(19).filter(char::is_ascii_alphanumeric).collect();
    time + "Z"
}

/// Returns a path that no backup has, named after the time.
pub(crate) fn unused_path(folder: &Path, now: Timestamp) -> PathBuf {
    let name = |number: usize| match number {
        1 => format!("{PREFIX}{}.db", digits(now)),
        number => format!("{PREFIX}{}-{number}.db", digits(now)),
    };
    (1..10_000)
        .map(|number| folder.join(name(number)))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(name(1)))
}

/// Returns the time in the name of a backup.
fn time_in_name(path: &Path) -> Option<Timestamp> {
    let stem = path.file_stem()?.to_str()?.strip_prefix(PREFIX)?;
    let time = stem.get(..15)?;
    let part = |range: std::ops::Range<usize>| time.get(range);
    let (date, clock) = (
        [part(0..4)?, part(4..6)?, part(6..8)?].join("-"),
        [part(9..11)?, part(11..13)?, part(13..15)?].join(":"),
    );
    moment_of(&format!("{date}T{clock}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_found_by_its_name_a_unique_part_of_it_and_latest() {
        let folder = tempfile::tempdir().expect("the folder is created");
        for name in ["memory-20260210T083000Z", "memory-20260210T083000Z-2", "memory-20260311T0"] {
            std::fs::write(folder.path().join(format!("{name}.db")), "x").expect("is written");
        }
        std::fs::write(folder.path().join(".tmp-x.db"), "x").expect("is written");
        let found = |id: &str| find(folder.path(), id).map(|backup| backup.id());
        for (id, expected) in [
            ("memory-20260210T083000Z", "memory-20260210T083000Z"),
            ("20260210T083000Z-2", "memory-20260210T083000Z-2"),
            ("202603", "memory-20260311T0"),
            ("memory-20260210T083000Z.db", "memory-20260210T083000Z"),
        ] {
            assert_eq!(found(id).expect("it is found"), expected, "{id}");
        }
        let error = found("2026").expect_err("several begin so").to_string();
        assert!(error.contains("3 backups begin with 2026"), "{error}");
        assert!(found("").is_err() && found("1999").is_err());
        let old = list(folder.path()).remove(0);
        assert_eq!(old.created_at.iso(), "2026-02-10T08:30:00.000Z");
        assert_eq!((old.reason(), old.is_verified()), (Reason::Unknown, false));
    }
}
