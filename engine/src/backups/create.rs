//! Makes a backup of an open store: copies one state of it part by part, verifies the copy, and only
//! then gives it its name.
//!
//! The copy is read through a connection of its own, so the writer and the readers go on. Not here:
//! which backups are deleted afterwards (`rotation`).

use crate::backups::manifest::{self, Backup, Manifest, Reason, TEMPORARY, failed};
use crate::backups::rotation;
use crate::db::backup;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::model::time::Timestamp;
use loci_proto::error::{Code, Failure, StorageFault};
use rusqlite::Connection;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What to back up, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBackup {
    /// The folder of the backups.
    pub folder: PathBuf,
    /// Why it is made.
    pub reason: Reason,
    /// The time.
    pub now: Timestamp,
    /// The bytes that all backups together may take.
    pub max_bytes: u64,
}

/// Makes a backup through a connection that is used for nothing else meanwhile, and deletes those
/// that are not kept any longer. `between` is called between two parts of the copy; its error ends
/// the backup.
///
/// # Errors
/// `storage_failed` if too little space is free; `Damaged` if the copy is faulty; `Database`,
/// `File`. No partial copy remains then.
pub(crate) fn create(
    source: &Connection,
    new: &NewBackup,
    between: &mut dyn FnMut() -> Result<()>,
) -> Result<Backup> {
    prepare_folder(&new.folder)?;
    manifest::remove_temporary(&new.folder);
    check_space(source, &new.folder)?;
    let temporary = new.folder.join(format!("{TEMPORARY}{}.db", uuid::Uuid::now_v7().simple()));
    let created = write(source, new, &temporary, between);
    if created.is_err() {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = temporary.clone().into_os_string();
            name.push(suffix);
            let _ = std::fs::remove_file(name);
        }
    }
    let created = created?;
    rotation::rotate(&new.folder, new.max_bytes, &created);
    Ok(created)
}

fn prepare_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder).map_err(|error| failed(folder, error))
}

/// Bytes that stay free, for the daemon.
const KEPT_FREE: u64 = 8 << 20;

/// Refuses if less than twice the size of the database is free, and some space for the daemon.
fn check_space(source: &Connection, folder: &Path) -> Result<()> {
    let size = crate::db::integrity::size(source)?;
    let needed = u64::try_from(size).unwrap_or(0).saturating_mul(2).saturating_add(KEPT_FREE);
    match free_bytes(folder) {
        Some(free) if free < needed => {
            let message = format!(
                "no backup was made: {} MiB are free, and a backup needs {} MiB",
                free >> 20,
                (needed >> 20) + 1
            );
            Err(Failure::new(Code::StorageFailed, message)
                .hint("Free some space, then run loci backup create")
                .caused_by(StorageFault::Full)
                .into())
        }
        _ => Ok(()),
    }
}

/// Returns the bytes that this user may still write to a folder; `None` if the system does not say.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let stats = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(to_u64(stats.blocks_available()).saturating_mul(to_u64(stats.fragment_size())))
}

/// Converts a block count, whose integer type differs between systems.
fn to_u64(number: impl Into<u64>) -> u64 {
    number.into()
}

/// Writes and verifies the copy under a temporary name, then gives it its name.
fn write(
    source: &Connection,
    new: &NewBackup,
    temporary: &Path,
    between: &mut dyn FnMut() -> Result<()>,
) -> Result<Backup> {
    // Created before it has content, so that only its owner can ever read it.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(temporary).map_err(|error| failed(temporary, error))?;
    let _in_use = manifest::mark_in_use(temporary)?;
    let snapshot = backup::snapshot(source)?;
    let stored = backup::contents(&snapshot)?;
    backup::copy_in_parts(&snapshot, temporary, between)?;
    failpoint!("after the copy of a backup");
    drop(snapshot);
    backup::seal(temporary)?;
    let copied = backup::examine(temporary)?;
    if copied != stored {
        let what = format!(
            "the copy has {} memories and the digest {}, the store {} and {}",
            copied.memories, copied.rows, stored.memories, stored.rows
        );
        return Err(Error::Damaged { path: temporary.to_path_buf(), what });
    }
    let file = File::open(temporary).map_err(|error| failed(temporary, error))?;
    file.sync_all().map_err(|error| failed(temporary, error))?;
    let numbers = manifest::list(&new.folder).into_iter().filter_map(|backup| backup.manifest);
    let manifest = Manifest {
        number: numbers.map(|manifest| manifest.number).max().unwrap_or(0) + 1,
        reason: new.reason,
        created_at: new.now.0,
        loci: loci_proto::VERSION.to_owned(),
        contents: copied,
        bytes: file.metadata().map_err(|error| failed(temporary, error))?.len(),
        digest: digest_of(temporary)?,
        replaced: None,
        verified_at: Some(new.now.0),
        drilled_at: None,
        fault: None,
    };
    let path = manifest::unused_path(&new.folder, new.now);
    failpoint!("before the manifest of a backup");
    // A backup that has a name always has its manifest.
    manifest::write_manifest(&path, &manifest)?;
    failpoint!("before a backup gets its name");
    std::fs::rename(temporary, &path).map_err(|error| {
        // Without its backup it says nothing.
        let _ = std::fs::remove_file(manifest::manifest_path(&path));
        failed(&path, error)
    })?;
    failpoint!("after a backup got its name");
    manifest::sync_folder(&new.folder)?;
    let bytes = manifest.bytes;
    Ok(Backup { path, bytes, created_at: new.now, manifest: Some(manifest) })
}

/// Returns the digest of a file.
///
/// # Errors
/// `File`.
pub(crate) fn digest_of(path: &Path) -> Result<String> {
    let read = || {
        let (mut file, mut hasher) = (File::open(path)?, blake3::Hasher::new());
        let mut buffer = vec![0; 256 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hasher.finalize().to_hex().to_string()),
                read => drop(hasher.update(&buffer[..read])),
            }
        }
    };
    read().map_err(|error| failed(path, error))
}
