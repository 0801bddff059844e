//! Progress of loading the index. Not here: the load (`handles::open`).

use crate::index::snapshot::error::SnapshotError;
use loci_base::Result;
use loci_proto::error::{Code, Failure};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Progress of loading the index, shared with the daemon.
#[derive(Debug, Default)]
pub struct WarmupProgress {
    loaded: AtomicUsize,
    total: AtomicUsize,
    ready: AtomicBool,
    stopped: AtomicBool,
    origin: OnceLock<Origin>,
}

/// How many memories are in the index, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadCount {
    /// Number of loaded memories.
    pub loaded: usize,
    /// Number of all memories.
    pub total: usize,
}

/// The source of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The database.
    Database,
    /// The snapshot of the last shutdown.
    Snapshot,
    /// The database, because the snapshot could not be used.
    Fallback(SnapshotError),
}

impl WarmupProgress {
    /// Returns how many memories are loaded and how many there are; `None` once the index is ready.
    #[must_use]
    pub fn progress(&self) -> Option<LoadCount> {
        (!self.ready.load(Ordering::Acquire)).then(|| self.counts())
    }

    /// Returns how many memories are loaded and how many there are, whether the index is ready or
    /// not.
    #[must_use]
    pub fn counts(&self) -> LoadCount {
        LoadCount {
            loaded: self.loaded.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
        }
    }

    /// Cancels the load, because the daemon stops.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the source of the index as a phrase that follows "the index was"; `None` until the
    /// index is ready.
    #[must_use]
    pub fn origin(&self) -> Option<&'static str> {
        Some(match self.origin.get()? {
            Origin::Snapshot => "loaded from the snapshot",
            Origin::Database | Origin::Fallback(SnapshotError::Missing) => {
                "built from the database"
            }
            Origin::Fallback(SnapshotError::Unreadable) => {
                "built from the database: the snapshot cannot be read"
            }
            Origin::Fallback(SnapshotError::Damaged) => {
                "built from the database: the snapshot is damaged"
            }
            Origin::Fallback(SnapshotError::Stale) => {
                "built from the database: the snapshot belongs to another state, model or build"
            }
        })
    }

    /// The progress of loading this number of memories.
    pub fn of(total: usize) -> Self {
        let progress = Self::default();
        progress.total.store(total, Ordering::Relaxed);
        progress
    }

    /// Resets the number of loaded memories, before loading from another source.
    pub fn restart(&self) {
        self.loaded.store(0, Ordering::Relaxed);
    }

    /// Marks the index as ready. A thread that reads the mark also sees all earlier writes.
    pub fn finish(&self, origin: Origin) {
        let _ = self.origin.set(origin);
        self.ready.store(true, Ordering::Release);
    }

    /// Counts one loaded memory.
    pub fn count(&self) {
        self.loaded.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns `busy` if the load was cancelled.
    pub fn check_not_stopped(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::Busy, "the daemon is shutting down").hint("Call again"));
        }
        Ok(())
    }
}
