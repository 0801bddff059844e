//! The one handle that changes a store: connection, pending index updates, checkpoints and closing.
//!
//! Not here: the operations (`operations`), transactions (`transaction::change`), opening and
//! warm-up (`open`).

use crate::db::{connection, health, idempotency};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::shared::Shared;
use crate::index::Index;
use crate::index::snapshot;
use crate::index::snapshot::{FileIdentity, SnapshotState};
use crate::model::time::Timestamp;
use crate::transaction::change_set::IndexUpdate;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
}

impl Writer {
    /// Opens another read-only handle of the same store.
    ///
    /// # Errors
    /// `Database` when it cannot be opened.
    pub fn reader(&self) -> Result<Reader> {
        Ok(Reader {
            conn: connection::reader(&self.shared.path)?,
            shared: Arc::clone(&self.shared),
        })
    }

    /// Returns whether the store was not closed properly and has not been checked since:
    /// [`Reader::check`] is due.
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

    /// Records a time that is too far ahead to be trusted, unless one is recorded already.
    ///
    /// # Errors
    /// `Database`.
    pub fn suspect(&self, now: Timestamp) -> Result<()> {
        health::suspect(&self.conn, now)
    }

    /// Records a trusted time. The caller decides whether its clock is right.
    ///
    /// # Errors
    /// `Database`.
    pub fn remember_moment(&self, now: Timestamp) -> Result<()> {
        health::set_last_seen(&self.conn, now)
    }

    /// Moves committed pages from the write-ahead log into the database. Returns how many are left
    /// in the log.
    ///
    /// # Errors
    /// `Database`: the disk fails, but no data is lost yet.
    pub fn checkpoint(&mut self) -> Result<i64> {
        if self.shared.erase_pending.load(Ordering::Relaxed) {
            self.scrub()?;
            return Ok(i64::from(self.shared.erase_pending.load(Ordering::Relaxed)));
        }
        health::checkpoint(&self.conn)
    }

    /// Erases the remaining copies of hard-deleted memories: removes the index snapshot and empties
    /// the write-ahead log. If a reader blocks that (an export may read for minutes), a later
    /// [`Writer::checkpoint`] completes it.
    pub(crate) fn scrub(&mut self) -> Result<()> {
        // Stays true if a step fails, so that the next checkpoint tries again.
        self.shared.erase_pending.store(true, Ordering::Relaxed);
        let emptied = health::empty_log(&self.conn)?;
        snapshot::remove(&self.shared.path)?;
        self.shared.erase_pending.store(!emptied, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes the stored replies of mutating calls from before a time. Returns how many there
    /// were.
    ///
    /// # Errors
    /// `Database`.
    pub fn expire_answers(&self, before: Timestamp) -> Result<usize> {
        idempotency::expire(&self.conn, before)
    }

    /// Replaces the settings, from the next call on, except the model: changing that needs a
    /// restart.
    pub fn set_settings(&self, settings: Settings) {
        let model = self.shared.settings().model.clone();
        *self.shared.settings.write() = Arc::new(Settings { model, ..settings });
    }

    /// Closes the store: moves the write-ahead log into the database and writes a snapshot of a
    /// large index for the next start.
    ///
    /// # Errors
    /// `Database`, `File`. No data is lost: the next start reads the log.
    pub fn close(self) -> Result<()> {
        let Self { conn, shared, pending, .. } = self;
        let settings = shared.settings();
        let is_large = |index: &Index| {
            (settings.snapshot_from..snapshot::SNAPSHOT_BELOW).contains(&index.size().memories)
        };
        let is_current = pending.is_empty() && !shared.is_suspect();
        let writes_snapshot = is_current && shared.warm().is_some_and(|index| is_large(&index));
        let nonce = writes_snapshot.then(|| uuid::Uuid::now_v7().simple().to_string());
        health::end(&conn, nonce.as_deref())?;
        // The identity of the file is final only once the connection is closed.
        conn.close().map_err(|(_, fault)| fault)?;
        match nonce.zip(FileIdentity::of(&shared.path)) {
            Some((nonce, identity)) => snapshot::write(
                &shared.path,
                &shared.index(),
                &SnapshotState { nonce, identity },
                &settings.model,
            ),
            None => snapshot::remove(&shared.path),
        }
    }
}
