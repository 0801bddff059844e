//! The one handle that changes a store: connection, pending index updates, checkpoints and closing.
//!
//! Not here: the operations (`operations`), transactions (`transaction::change`), opening and
//! warm-up (`open`).

use crate::backups::policies::Policies;
use crate::database_files::store_files::StoreFiles;
use crate::db::{cipher, connection, health, idempotency, memories};
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::shared::Shared;
use crate::index::Index;
use crate::index::snapshot;
use crate::index::snapshot::{FileIdentity, SnapshotState};
use crate::model::time::{ClockReading, Timestamp};
use crate::transaction::change_set::IndexUpdate;
use loci_proto::error::Failure;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use std::sync::Arc;

/// The one connection that changes the database.
#[derive(Debug)]
pub struct Writer {
    pub(crate) conn: Connection,
    pub(crate) shared: Arc<Shared>,
    /// Whether the database has to be checked because it was not closed properly.
    pub(crate) check: health::Check,
    /// Updates of the changes in the open group, applied to the index after its commit.
    pub(crate) pending: Vec<IndexUpdate>,
    /// The schema was older than the table of mentions, so the mentions must be inserted once.
    pub(crate) needs_mention_backfill: bool,
    /// The state of the database that a usable index snapshot was written for; consumed by the
    /// load.
    pub(crate) snapshot_state: Option<SnapshotState>,
    /// The files next to the connection.
    pub(crate) files: StoreFiles,
    /// Why the daemon has to shut down. Unless only the log lost its name, the store takes no more
    /// changes.
    pub(crate) failure: Option<Failure>,
    /// The log lost its name: each commit is moved into the database before it is acknowledged.
    pub(crate) is_log_lost: bool,
    /// Permanently deleted memories whose ids are not in the file next to the backups yet.
    pub(crate) erased: Vec<MemoryId>,
    /// What the file next to the backups says of isolation and switches.
    pub(crate) policies: Option<Policies>,
    /// What the start found wrong with the files, one sentence each.
    pub(crate) findings: Vec<String>,
}

impl Writer {
    /// Opens another read-only handle of the same store.
    ///
    /// # Errors
    /// `Database` when it cannot be opened.
    pub fn reader(&self) -> Result<Reader> {
        Reader::new(&self.shared)
    }

    /// Returns the number of memories of any status.
    ///
    /// # Errors
    /// `Database`.
    pub fn memories(&self) -> Result<usize> {
        memories::count(&self.conn)
    }

    /// Returns what the start found wrong with the files, one sentence each, for the person.
    #[must_use]
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Returns whether the store was not closed properly and has not been checked since:
    /// [`Reader::full_check`] is due.
    #[must_use]
    pub fn wants_check(&self) -> bool {
        self.check == health::Check::Due
    }

    /// Records the fault that a check found, so that the next start checks before it serves.
    ///
    /// # Errors
    /// `Database`.
    pub fn note_damage(&self, what: &str) -> Result<()> {
        health::set_damaged(&self.conn, what)
    }

    /// Returns the latest trusted time that the store has recorded. A clock that shows an earlier
    /// time was set back.
    ///
    /// # Errors
    /// `Database`.
    pub fn last_seen(&self) -> Result<Timestamp> {
        health::last_seen(&self.conn)
    }

    /// Returns the first time that was too far ahead to be trusted, if one was recorded since the
    /// last trusted one.
    ///
    /// # Errors
    /// `Database`.
    pub fn suspected(&self) -> Result<Option<Timestamp>> {
        health::suspected(&self.conn)
    }

    /// Records the time for the next start: as the latest time if it is trusted, otherwise as the
    /// first suspected one.
    ///
    /// # Errors
    /// `Database`.
    pub fn record_time(&self, reading: ClockReading) -> Result<()> {
        if reading.is_trusted {
            health::set_last_seen(&self.conn, reading.now)
        } else {
            health::suspect(&self.conn, reading.now)
        }
    }

    /// Returns whether another program holds the database's lock for writing.
    ///
    /// # Errors
    /// `Database`.
    pub fn is_locked_by_another(&mut self) -> Result<bool> {
        match self.briefly(|writer| connection::begin(&writer.conn)) {
            Ok(()) => connection::roll_back(&self.conn).map(|()| false),
            Err(error) if error.is_busy() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Runs work that waits only briefly while another program locks the database: a call that
    /// waits for the writer must not wait for this work too.
    ///
    /// # Errors
    /// `Database`, and the errors of `work`.
    pub fn briefly<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.conn.busy_timeout(connection::BACKGROUND_TIMEOUT)?;
        let outcome = work(self);
        self.conn.busy_timeout(connection::BUSY_TIMEOUT)?;
        outcome
    }

    /// Deletes the stored replies of mutating calls from before a time. Returns how many there
    /// were.
    ///
    /// # Errors
    /// `Database`.
    pub fn expire_answers(&self, before: Timestamp) -> Result<usize> {
        idempotency::expire(&self.conn, before)
    }

    /// Replaces the settings, from the next call on, except the model, which
    /// [`Writer::use_model`] changes.
    pub fn set_settings(&self, settings: Settings) {
        let model = self.shared.settings().model.clone();
        *self.shared.settings.write() = Arc::new(Settings { model, ..settings });
    }

    /// Closes the store: moves the write-ahead log into the database and writes a snapshot of a
    /// large index for the next start.
    ///
    /// # Errors
    /// `Database`, `File`. No data is lost: the next start reads the log.
    pub fn close(mut self) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let settings = shared.settings();
        let is_large = |index: &Index| {
            (settings.snapshot_from..snapshot::SNAPSHOT_BELOW).contains(&index.size().memories)
        };
        let is_current = self.pending.is_empty() && !shared.is_suspect() && self.failure.is_none();
        // The texts of an encrypted store stay in it: its index is built again at the next start.
        let is_plain = cipher::key_of(&self.conn).is_none();
        let writes_snapshot =
            is_current && is_plain && shared.warm().is_some_and(|index| is_large(&index));
        let nonce = writes_snapshot.then(|| uuid::Uuid::now_v7().simple().to_string());
        self.end(nonce.as_deref())?;
        failpoint!("after the last checkpoint");
        let memories = memories::count(&self.conn)?;
        let is_trusted = self.require_trusted().is_ok();
        let Self { conn, files, .. } = self;
        // The identity of the file is final only once the connection is closed.
        conn.close().map_err(|(_, fault)| fault)?;
        if !is_trusted {
            return Ok(());
        }
        failpoint!("before the identity of a closed store");
        files.close(memories)?;
        failpoint!("after the identity of a closed store");
        match nonce.zip(FileIdentity::of(&shared.path)) {
            Some((nonce, identity)) => snapshot::write(
                &shared.path,
                &shared.index(),
                &SnapshotState { nonce, identity },
                &shared.sets().active,
            )?,
            None => snapshot::remove(&shared.path)?,
        }
        Ok(())
    }
}
