//! Encrypts, decrypts or changes the key of a whole store: the database first, then each backup.
//!
//! Each file is copied, compared, and replaced in one step, so a conversion that was interrupted is
//! continued by doing it again. Not here: the key file (the daemon), the copy itself
//! (`db::recrypt`).

use crate::backups::create::{digest_of, free_bytes};
use crate::backups::manifest::{self, Backup, Manifest, TEMPORARY, failed, sync_folder};
use crate::backups::prepare::Target;
use crate::backups::swap;
use crate::db::{backup, recrypt};
use crate::encryption::header::{KeyId, key_id_of};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::open::open_cold;
use crate::handles::settings::{BackupSettings, Settings};
use loci_proto::error::{Code, Failure, StorageFault};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes that stay free.
const KEPT_FREE: u64 = 8 << 20;

/// What a conversion did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Converted {
    /// The memories of the store.
    pub memories: usize,
    /// Whether the database was converted now.
    pub database: bool,
    /// The backups that were converted now.
    pub backups: usize,
    /// Files and folders that were left as they are, each with the reason.
    pub left: Vec<(PathBuf, String)>,
}

/// Converts a store and its backups to this key, or to plain files. The caller holds the locks of the
/// daemon. A database is created if there is none.
///
/// # Errors
/// `Encrypted`, `Damaged`, `Lost`, `File`, `Database`; what was converted stays so, and calling it
/// again goes on.
pub fn convert(target: &Target, key: Option<KeyId>) -> Result<Converted> {
    let mut done = Converted::default();
    let settings = Settings { key, backups: BackupSettings::default(), ..target.settings.clone() };
    // Also completes a replacement that was interrupted.
    let writer = open_cold(&target.database, settings.clone(), target.now)?;
    done.memories = writer.memories()?;
    writer.close()?;
    if key_id_of(&target.database) != key {
        convert_database(target, settings, key)?;
        done.database = true;
    }
    failpoint!("after the database was converted");
    manifest::remove_temporary(&target.backups);
    for found in manifest::list(&target.backups) {
        match convert_backup(&found, key) {
            Ok(true) => done.backups += 1,
            Ok(false) => {}
            Err(error @ (Error::Damaged { .. } | Error::Encrypted { .. })) => {
                done.left.push((found.path, error.to_string()));
            }
            Err(error) if error.is_damage() => done.left.push((found.path, error.to_string())),
            Err(error) => return Err(error),
        }
        failpoint!("after a backup was converted");
    }
    if key.is_some() {
        done.left.extend(plain_quarantines(&target.database));
    }
    Ok(done)
}

/// A folder that is removed unless a replacement has begun with it.
struct Folder {
    path: PathBuf,
    is_needed: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_needed {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn convert_database(target: &Target, settings: Settings, key: Option<KeyId>) -> Result<()> {
    let database = &target.database;
    require_space(database, database.parent().unwrap_or(Path::new("/")))?;
    let mut folder = Folder { path: swap::new_folder(database)?, is_needed: false };
    let path = folder.path.join(database.file_name().unwrap_or_default());
    new_file(&path)?;
    failpoint!("before the database is copied");
    recrypt::copy(database, &path, key)?;
    failpoint!("after the database was copied");
    // Writes the files next to it.
    open_cold(&path, settings, target.now)?.close()?;
    if backup::examine(&path)? != backup::examine(database)? {
        let what = "the copy has other memories than the database".to_owned();
        return Err(Error::Damaged { path, what });
    }
    let synced = File::open(&path).and_then(|file| file.sync_all());
    synced.map_err(|error| failed(&path, error))?;
    sync_folder(&folder.path)?;
    folder.is_needed = true;
    swap::replace_without_copy(database, &folder.path)
}

/// Converts a backup, unless it has this key; returns whether it did. Its manifest has both digests
/// while the file is replaced.
fn convert_backup(found: &Backup, key: Option<KeyId>) -> Result<bool> {
    if key_id_of(&found.path) == key {
        finish_manifest(found)?;
        return Ok(false);
    }
    let contents = backup::examine(&found.path)?;
    let folder = found.path.parent().unwrap_or(Path::new("/"));
    require_space(&found.path, folder)?;
    let temporary = folder.join(format!("{TEMPORARY}{}.db", uuid::Uuid::now_v7().simple()));
    new_file(&temporary)?;
    let converted = convert_into(found, &temporary, key, &contents);
    if converted.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    converted?;
    sync_folder(folder)?;
    let read = Backup::read(&found.path);
    read.map_or(Ok(()), |read| finish_manifest(&read))?;
    Ok(true)
}

fn convert_into(
    found: &Backup,
    temporary: &Path,
    key: Option<KeyId>,
    contents: &manifest::Contents,
) -> Result<()> {
    let _in_use = manifest::mark_in_use(temporary)?;
    recrypt::copy(&found.path, temporary, key)?;
    backup::seal(temporary)?;
    if backup::examine(temporary)? != *contents {
        let what = "the copy has other memories than the backup".to_owned();
        return Err(Error::Damaged { path: temporary.to_path_buf(), what });
    }
    let file = File::open(temporary).map_err(|error| failed(temporary, error))?;
    file.sync_all().map_err(|error| failed(temporary, error))?;
    if let Some(known) = &found.manifest {
        let manifest = Manifest {
            digest: digest_of(temporary)?,
            bytes: file.metadata().map_err(|error| failed(temporary, error))?.len(),
            replaced: Some(known.digest.clone()),
            ..known.clone()
        };
        manifest::write_manifest(&found.path, &manifest)?;
    }
    failpoint!("before a converted backup takes its place");
    std::fs::rename(temporary, &found.path).map_err(|error| failed(&found.path, error))?;
    failpoint!("after a converted backup took its place");
    Ok(())
}

/// Removes the digest of the file as it was before.
fn finish_manifest(found: &Backup) -> Result<()> {
    match &found.manifest {
        Some(known) if known.replaced.is_some() => {
            let manifest = Manifest { replaced: None, ..known.clone() };
            manifest::write_manifest(&found.path, &manifest)
        }
        _ => Ok(()),
    }
}

/// Returns the folders of the quarantine whose database is not encrypted. They are kept as they were
/// found, so they are left to the person.
fn plain_quarantines(database: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(database.with_file_name("quarantine"));
    let folders = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let name = database.file_name().unwrap_or_default();
    folders
        .filter(|folder| folder.is_dir() && key_id_of(&folder.join(name)).is_none())
        .map(|folder| {
            (
                folder,
                "has files that are not encrypted; delete it when you do not need it".to_owned(),
            )
        })
        .collect()
}

/// Refuses if less than twice the size of a file is free.
fn require_space(file: &Path, folder: &Path) -> Result<()> {
    let size = file.metadata().map_err(|error| failed(file, error))?.len();
    let needed = size.saturating_mul(2).saturating_add(KEPT_FREE);
    match free_bytes(folder) {
        Some(free) if free < needed => {
            let message = format!(
                "{} was not converted: {} MiB are free, and {} MiB are needed",
                file.display(),
                free >> 20,
                (needed >> 20) + 1
            );
            Err(Failure::new(Code::StorageFailed, message)
                .hint("Free some space, then run the command again: it goes on")
                .caused_by(StorageFault::Full)
                .into())
        }
        _ => Ok(()),
    }
}

fn new_file(path: &Path) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| failed(path, error))
}
