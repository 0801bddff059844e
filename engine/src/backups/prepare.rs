//! Prepares a database from a backup in a folder of its own: copies it, migrates it, and deletes
//! what was hard-deleted since. Nothing is replaced yet.
//!
//! Not here: putting it in place (`swap`), what is added from a damaged database (`recover`).

use crate::backups::manifest::{Backup, failed, sync_folder};
use crate::backups::{forgotten_ids, policies, redactions, swap};
use crate::database_files::identity::{self, StoredIdentity};
use crate::db::{groups, health, probe};
#[cfg(feature = "encrypted")]
use crate::encryption;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::open::open_cold;
use crate::handles::settings::{BackupSettings, Settings};
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::time::Timestamp;
use crate::privacy::Policy;
use crate::transaction::change::CallContext;
use loci_proto::group::Group;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The notice of a restore that could not read which projects are isolated.
const POLICIES_UNKNOWN: &str = "Which projects were isolated or off could be read neither from the database nor from backups/policies: every project of a folder is isolated. \
    Say isolated = false in the .loci.toml of those that are not, and check loci groups list";

/// A store that is to be replaced. The caller holds the lock of the daemon.
#[derive(Debug, Clone)]
pub struct Target {
    /// The database, with symbolic links resolved.
    pub database: PathBuf,
    /// The folder of the backups.
    pub backups: PathBuf,
    /// The settings of the store.
    pub settings: Settings,
    /// What is a secret.
    pub policy: Arc<Policy>,
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
            copy_backup(target, backup, &path)?;
            failpoint!("after a backup was copied");
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

    /// Makes the numbers of acts continue after those of the present database, so that an undo command
    /// that was printed for it undoes nothing else here.
    ///
    /// # Errors
    /// `Database`.
    pub fn continue_acts(&mut self, target: &Target) -> Result<()> {
        // An act makes at least one change, so the number of changes is a bound if the journal cannot
        // be read.
        let known = target.last_known().map(|known| known.last_change);
        let last = probe::last_act(&target.database).ok().or(known).unwrap_or(0);
        // What happened between the backup and now is not known here.
        health::begin_history(&self.writer()?.conn, target.now)?;
        health::continue_rows(&self.writer()?.conn, "journal", last)
    }

    /// Deletes what was hard-deleted since the backup; returns how many memories.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn forget_again(&mut self, target: &Target) -> Result<usize> {
        let mut ids = forgotten_ids::read(&target.backups)?;
        // The present database has them too, unless it is lost or damaged.
        ids.extend(probe::tombstones(&target.database).unwrap_or_default());
        self.writer()?.erase_again(&ids, target.now)
    }

    /// Isolates the projects that are isolated in the present database or next to the backups. If neither can be read, every project of a
    /// folder is isolated, and a notice says so.
    ///
    /// # Errors
    /// `Database`.
    pub fn isolate_again(&mut self, target: &Target) -> Result<()> {
        let mut known = policies::read(&target.backups);
        // A damaged database is also read again row by row.
        let present = probe::isolated_groups(&target.database);
        let is_unknown = known.is_unreadable && present.is_err();
        known.isolated.extend(present.unwrap_or_default());
        let writer = self.writer()?;
        if is_unknown {
            let ids = groups::all(&writer.conn)?.into_iter().map(|group| group.id);
            known.isolated.extend(ids.filter(|id| Group::is_folder_id(id)));
            writer.add_notice(POLICIES_UNKNOWN, target.now)?;
        }
        writer.isolate_again(&known.isolated, target.now)
    }

    /// Switches off what is off in the present database or next to the backups.
    ///
    /// # Errors
    /// `Database`.
    pub fn switch_off_again(&mut self, target: &Target) -> Result<()> {
        let known = policies::read(&target.backups).off;
        let present = probe::switched_off(&target.database).unwrap_or_default();
        self.writer()?.switch_off_again(&known, target.now)?;
        self.writer()?.switch_off_again(&present, target.now)
    }

    /// Replaces the secrets that were replaced in the store since the backup was made; returns how
    /// many.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn redact_again(&mut self, target: &Target, backup: &Backup) -> Result<usize> {
        if !redactions::is_needed(&target.backups, backup)? {
            return Ok(0);
        }
        let call =
            CallContext { now: target.now, actor: maintain::actor(""), key: None, shown: None };
        let reply = self.writer()?.redact_secrets(&call, &target.policy)?;
        failpoint!("after secrets were replaced again");
        Ok(reply.redacted)
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
        failpoint!("before a prepared store takes its place");
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

/// Copies a backup; the copy is encrypted as the settings say.
fn copy_backup(target: &Target, from: &Path, to: &Path) -> Result<()> {
    #[cfg(feature = "encrypted")]
    if encryption::key_id_of(from) != target.settings.key {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(to)
            .map_err(|error| failed(to, error))?;
        return crate::db::recrypt::copy(from, to, target.settings.key);
    }
    #[cfg(not(feature = "encrypted"))]
    let _ = target;
    copy_private(from, to)
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
