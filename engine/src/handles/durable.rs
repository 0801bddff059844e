//! What makes a commit durable and keeps it so: the files are checked before a reply, checkpoints
//! move the log into the database, and a store that cannot be trusted any more takes no changes.
//!
//! Not here: the files themselves (`database_files`), transactions (`transaction::change`).

use crate::backups::policies::{self, Policies};
use crate::backups::{forgotten_ids, mirrored, redactions};
use crate::database_files::quarantine::Quarantine;
use crate::db::checkpoint::{Announcement, Moved};
use crate::db::{backup, checkpoint, connection, health};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::open::unrecorded_tombstones;
use crate::handles::writer::Writer;
use crate::index::snapshot;
use crate::model::time::ClockReading;
use loci_proto::error::{Failure, StorageFault};
use std::sync::atomic::Ordering;

impl Writer {
    /// Returns why the store takes no more changes, if it does not: a sync failed, or its files were
    /// removed, replaced or damaged. The daemon has to shut down then.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure.clone()
    }

    /// Checks that the files of the store are in place, also while nothing is written.
    ///
    /// # Errors
    /// `storage_failed` if they are not; see [`Writer::failure`].
    pub fn check_files(&mut self) -> Result<()> {
        self.require_trusted()?;
        let found = self.files.check_in_place();
        found.or_else(|error| self.give_up(error))
    }

    /// Refuses a change if an earlier one has shown that the store cannot be trusted.
    pub(crate) fn require_trusted(&self) -> Result<()> {
        match &self.failure {
            Some(failure) if !self.is_log_lost => Err(failure.clone().into()),
            _ => Ok(()),
        }
    }

    /// Checks the files and records the commit in them. No caller may be answered before.
    ///
    /// # Errors
    /// `storage_failed` if the commit went into a file that is gone.
    pub(crate) fn record_commit(&mut self) -> Result<()> {
        let recorded =
            health::last_change(&self.conn).and_then(|last| self.files.record_commit(last));
        self.record_erased();
        recorded.or_else(|error| self.give_up(error))
    }

    /// Writes the ids of permanently deleted memories next to the backups. The deletion itself is
    /// committed: if the file cannot be written, a later commit or the next start tries again.
    pub(crate) fn record_erased(&mut self) {
        let settings = self.shared.settings();
        if let Some(folder) = &settings.backups.folder
            && !self.erased.is_empty()
            && forgotten_ids::append(folder, &self.erased).is_ok()
        {
            self.erased.clear();
        }
    }

    /// Completes the files next to the backups, and records what is deleted, isolated and off if they do not say so.
    pub(crate) fn begin_records(&mut self) {
        self.erased = unrecorded_tombstones(&self.conn, &self.shared.settings());
        self.record_erased();
        let Some(folder) = self.shared.settings().backups.folder.clone() else { return };
        for name in [forgotten_ids::NAME, redactions::NAME, policies::NAME] {
            if let Err(error) = mirrored::complete(&folder, name) {
                self.findings.push(format!("{name} is kept in one place only: {error}"));
            }
        }
        self.policies = policies::last(&folder);
        self.record_policies();
    }

    /// Writes what is isolated and off next to the backups, if it has changed. If the file cannot be written, a later commit tries again.
    pub(crate) fn record_policies(&mut self) {
        let Some(folder) = self.shared.settings().backups.folder.clone() else { return };
        let now = Policies::new(&self.shared.isolated.read(), &self.shared.switches.read());
        // A store that never had any needs no file.
        let is_known = match &self.policies {
            Some(known) => *known == now,
            None => now == Policies::default() && !policies::exists(&folder),
        };
        if !is_known && policies::record(&folder, &now).is_ok() {
            self.policies = Some(now);
        }
    }

    /// Returns the error of a change; one that shows that the store cannot be trusted is kept.
    pub(crate) fn note_failure(&mut self, error: Error) -> Error {
        if error.is_fatal() && self.failure.is_none() {
            let failure = Failure::from(error);
            self.failure = Some(failure.clone());
            return failure.into();
        }
        error
    }

    /// Saves what can be saved of a store whose files are not in place. A log that lost its name is
    /// moved into the database, which makes the commit durable; of a database that is gone, a copy
    /// is written to the quarantine.
    fn give_up(&mut self, error: Error) -> Result<()> {
        if !error.is_fatal() {
            return Err(error);
        }
        self.is_log_lost = matches!(error, Error::LogLost { .. });
        let mut failure = Failure::from(error);
        if self.is_log_lost {
            // SQLite goes on writing into the file without a name, so each commit is moved out of it
            // before it is acknowledged.
            let Moved { committed, moved } = self.count_checkpoint(None, checkpoint::passive)?;
            if moved == committed {
                self.failure = Some(failure);
                return Ok(());
            }
            self.is_log_lost = false;
        } else {
            let saved = match self.rescue(&failure.message) {
                Ok(folder) => format!("a copy of the store is in {folder}"),
                Err(error) => format!("no copy could be written: {error}"),
            };
            failure.message = format!("{}; {saved}", failure.message);
        }
        self.failure = Some(failure.clone());
        Err(failure.into())
    }

    /// Writes a copy of the open database to the quarantine; returns the folder.
    fn rescue(&self, reason: &str) -> Result<String> {
        let path = &self.shared.path;
        let now = health::last_seen(&self.conn)?;
        let quarantine = Quarantine::create(path, now, reason)?;
        let folder = quarantine.folder();
        backup::copy(&self.conn, &folder.join(path.file_name().unwrap_or_default()))?;
        // If the whole folder was removed, the next start must not take it for a new one.
        self.files.write_identity_again()?;
        Ok(folder.display().to_string())
    }

    /// Moves committed pages from the write-ahead log into the database, and records the time.
    /// Returns how many frames are left in the log.
    ///
    /// # Errors
    /// `Database`: the disk fails, but no data is lost yet.
    pub fn checkpoint(&mut self, reading: ClockReading) -> Result<u32> {
        self.require_trusted()?;
        if self.is_erase_pending() {
            self.scrub()?;
            return Ok(u32::from(self.is_erase_pending()));
        }
        let moved = self.count_checkpoint(Some(reading), checkpoint::passive);
        let Moved { committed, moved } = moved.map_err(|error| self.note_failure(error))?;
        Ok(committed.saturating_sub(moved))
    }

    fn is_erase_pending(&self) -> bool {
        self.shared.erase_pending.load(Ordering::Relaxed)
    }

    /// Erases the remaining copies of hard-deleted memories: removes the index snapshot and empties
    /// the write-ahead log. If a reader blocks that (an export may read for minutes), a later
    /// [`Writer::checkpoint`] completes it.
    pub(crate) fn scrub(&mut self) -> Result<()> {
        // Stays true if a step fails, so that the next checkpoint tries again.
        self.shared.erase_pending.store(true, Ordering::Relaxed);
        let emptied = self.count_checkpoint(None, |conn| {
            let emptied = checkpoint::try_truncate_log(conn)?;
            // What a reader has blocked is counted by the next checkpoint.
            Ok(if emptied { Moved::ALL } else { checkpoint::passive(conn)? })
        })? == Moved::ALL;
        failpoint!("after the log was emptied");
        snapshot::remove(&self.shared.path)?;
        self.shared.erase_pending.store(!emptied, Ordering::Relaxed);
        Ok(())
    }

    /// Runs a checkpoint, and hashes the pages that it has moved.
    fn count_checkpoint(
        &mut self,
        reading: Option<ClockReading>,
        run: impl FnOnce(&rusqlite::Connection) -> Result<Moved>,
    ) -> Result<Moved> {
        let announcement = Announcement {
            wal_salt: self.files.wal_salt(),
            reading,
            continues: self.files.is_checkpoint_incomplete(),
        };
        let number = checkpoint::announce(&self.conn, announcement)?;
        failpoint!("after the announcement of a checkpoint");
        let pages = self.files.pages_to_move()?;
        match run(&self.conn) {
            Ok(moved) => {
                failpoint!("between a checkpoint and the checksums");
                self.files.record_checkpoint(&pages, moved, number)?;
                failpoint!("after the checksums");
                Ok(moved)
            }
            Err(error) => {
                // Some pages may have been written before the disk failed.
                self.files.record_interrupted_checkpoint(&pages)?;
                Err(error)
            }
        }
    }

    /// Marks the store as closed and moves the whole log into the database. A store that cannot be
    /// trusted is left as it is, for the next start to judge.
    pub(crate) fn end(&mut self, nonce: Option<&str>) -> Result<()> {
        if let Err(error) = self.require_trusted() {
            if let Error::Refused(Failure { fault: Some(StorageFault::Damaged), message, .. }) =
                &error
            {
                // The mark "open" is enough for a small store; a larger one is served before a check.
                let _ = health::set_damaged(&self.conn, message);
            }
            return Ok(());
        }
        self.record_damaged_rows()?;
        health::mark_closed(&self.conn, nonce)?;
        self.count_checkpoint(None, |conn| {
            connection::truncate_log(conn)?;
            Ok(Moved::ALL)
        })?;
        connection::set_checkpoint_on_close(&self.conn, true)
    }
}
