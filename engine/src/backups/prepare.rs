//! Prepares a database from a backup in a folder of its own: copies it, migrates it, and deletes
//! what was hard-deleted since. Nothing is replaced yet.
//!
//! Not here: putting it in place (`swap`), what is added from a damaged database (`recover`).

use crate::backups::manifest::{failed, sync_folder};
use crate::backups::{forgotten_ids, swap};
use crate::database_files::identity::{self, StoredIdentity};
use crate::db::{memories, probe, tombstones};
use crate::error::{Error, Result};
use crate::handles::open::open_cold;
use crate::handles::settings::{BackupSettings, Settings};
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::time::Timestamp;
use crate::operations::forget::erase;
use crate::transaction::change::{CallContext, Change};
use loci_proto::memory::MemoryId;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A store that is to be replaced. The caller holds the lock of the daemon.
#[derive(Debug, Clone)]
pub struct Target {
    /// The database, with symbolic links resolved.
    pub database: PathBuf,
    /// The folder of the backups.
    pub backups: PathBuf,
    /// The settings of the store.
    pub settings: Settings,
    /// The time.
    pub now: Timestamp,
}

impl Target {
    /// Returns the id and the last change of the database as it was last recorded.
    pub(crate) fn last_known(&self) -> Option<LastKnown> {
        match identity::read(&self.database) {
            StoredIdentity::Known(known) => {
                Some(LastKnown { database: known.uuid, last_change: known.last_change })
            }
            StoredIdentity::Missing | StoredIdentity::Unreadable => None,
        }
    }

    /// Returns the number of memories of the present store, without changing it; `None` if it
    /// cannot be read.
    #[must_use]
    pub fn memories_now(&self) -> Option<usize> {
        probe::with_log(&self.database).ok().map(|state| state.memories)
    }
}

/// What the identity file says about the present database.
#[derive(Debug, Clone)]
pub(crate) struct LastKnown {
    pub database: String,
    pub last_change: i64,
}

/// A database in a folder of its own, open for writing. The folder is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Prepared {
    folder: PathBuf,
    writer: Option<Writer>,
    /// A replacement has begun, which the next start completes if it was interrupted.
    is_needed: bool,
}

impl Prepared {
    /// Copies a backup and opens the copy; without a backup, creates an empty database.
    ///
    /// # Errors
    /// `File`, `Database`, `Damaged`. Nothing remains then.
    pub fn new(target: &Target, backup: Option<&Path>) -> Result<Self> {
        let folder = swap::new_folder(&target.database)?;
        let mut this = Self { folder, writer: None, is_needed: false };
        let path = this.database(target);
        if let Some(backup) = backup {
            copy_private(backup, &path)?;
        }
        // A store that is being prepared makes no backups of itself.
        let settings = Settings { backups: BackupSettings::default(), ..target.settings.clone() };
        this.writer = Some(open_cold(&path, settings, target.now)?);
        Ok(this)
    }

    fn database(&self, target: &Target) -> PathBuf {
        self.folder.join(target.database.file_name().unwrap_or_default())
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the open store.
    ///
    /// # Errors
    /// `Lost` after it was closed.
    pub fn writer(&mut self) -> Result<&mut Writer> {
        let path = self.folder.clone();
        self.writer.as_mut().ok_or(Error::Lost { path, what: "was closed".to_owned() })
    }

    /// Deletes what was hard-deleted since the backup; returns how many memories.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn forget_again(&mut self, target: &Target) -> Result<usize> {
        let ids = forgotten_ids::read(&target.backups)?;
        let call = CallContext { now: target.now, actor: maintain::actor(""), key: None };
        let writer = self.writer()?;
        let forgotten = writer.run_idempotent(&call, |change| erase_all(change, &ids))?;
        writer.scrub()?;
        Ok(forgotten)
    }

    /// Closes the store and puts it in the place of the present one. Returns the folder of the
    /// quarantine.
    ///
    /// # Errors
    /// `File`, `Database`; the present database is unchanged, or the next start completes the
    /// replacement.
    pub fn put_in_place(mut self, target: &Target, report: &str) -> Result<PathBuf> {
        if let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        let path = self.database(target);
        crate::db::backup::examine(&path)?;
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|error| failed(&path, error))?;
        sync_folder(&self.folder)?;
        self.is_needed = true;
        swap::replace(&target.database, &self.folder, target.now, report)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.is_needed {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

fn erase_all(change: &mut Change<'_>, ids: &HashSet<MemoryId>) -> Result<usize> {
    let mut forgotten = 0;
    for id in ids {
        match memories::by_id(change.conn, id)? {
            Some(memory) => {
                erase(change, &memory)?;
                forgotten += 1;
            }
            None => tombstones::insert(change.conn, id, change.call.now)?,
        }
    }
    Ok(forgotten)
}

/// Copies a file into a new file that only its owner can read, on the disk before it returns.
pub(crate) fn copy_private(from: &Path, to: &Path) -> Result<()> {
    let copy = || {
        let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut File::open(from)?, &mut target)?;
        target.sync_all()
    };
    copy().map_err(|error| failed(to, error))
}
