//! The state that the writer and the readers of one store share: the settings, the index and its
//! warm-up progress.

use crate::database_files::database_file::DatabaseFile;
use crate::db::connection;
use crate::db::damage::{self, DamagedRows};
use crate::error::Result;
use crate::handles::settings::Settings;
use crate::index::warmup::WarmupProgress;
use crate::index::{Filter, Index, Statuses};
use crate::model::actor::Viewer;
use crate::model::switch_set::SwitchSet;
use crate::model::time::Timestamp;
use crate::model::vector_set::VectorSets;
use crate::model::visibility::{Isolation, Visibility};
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::memory::Confidence;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The state that all handles of one store share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The path of the database file, with symbolic links resolved.
    pub(crate) path: PathBuf,
    /// The locked file, kept open as long as any connection.
    pub(crate) database: Arc<DatabaseFile>,
    /// True if the store was opened without a writer, on a disk that cannot be written.
    pub(crate) is_read_only: bool,
    pub(crate) settings: RwLock<Arc<Settings>>,
    /// The vector sets in use. The active one changes together with the index, under its lock.
    pub(crate) sets: RwLock<Arc<VectorSets>>,
    pub(crate) index: RwLock<Index>,
    /// Serialises index updates. `true` marks the index as suspect: an update was interrupted, or
    /// `doctor` found a mismatch. A suspect index is never written to a snapshot.
    pub(crate) index_suspect: Mutex<bool>,
    /// Groups that were merged into others, by id, and the group that each redirects to.
    pub(crate) group_redirects: RwLock<HashMap<String, Group>>,
    /// Ids of the isolated groups.
    pub(crate) isolated: RwLock<Vec<String>>,
    /// Where a person has switched loci off.
    pub(crate) switches: RwLock<SwitchSet>,
    pub(crate) warmup: Arc<WarmupProgress>,
    /// The damaged rows that were found.
    pub(crate) damaged: Arc<DamagedRows>,
    /// True if hard-deleted memories may still be in the write-ahead log or the index snapshot.
    pub(crate) erase_pending: AtomicBool,
}

impl Shared {
    /// Opens another connection for reading.
    ///
    /// # Errors
    /// `Database` if the file cannot be opened.
    pub(crate) fn reader_connection(&self) -> Result<Connection> {
        let conn = if self.is_read_only {
            connection::reader_without_files(&self.path)?
        } else {
            connection::reader(&self.path)?
        };
        damage::record_into(&conn, &self.damaged)?;
        Ok(conn)
    }

    /// Returns the index, or `None` while it is being loaded.
    pub(crate) fn warm(&self) -> Option<RwLockReadGuard<'_, Index>> {
        self.warmup.progress().is_none().then(|| self.index())
    }

    /// Marks the index as suspect. Blocks during an index update, so the caller must not hold the
    /// index lock.
    pub(crate) fn suspect(&self) {
        *self.index_suspect.lock() = true;
    }

    /// Returns whether the index may differ from the database.
    pub(crate) fn is_suspect(&self) -> bool {
        *self.index_suspect.lock()
    }

    /// Refuses an operation that needs the whole index while it is being loaded.
    ///
    /// # Errors
    /// `busy` during the warm-up.
    pub(crate) fn require_ready(&self) -> Result<()> {
        match self.warmup.progress() {
            Some(_) => Err(Failure::new(Code::Busy, "the index is still being loaded")
                .hint("Call again in a moment")
                .into()),
            None => Ok(()),
        }
    }

    /// Locks the index for reading.
    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read()
    }

    /// Locks the index for writing.
    pub(crate) fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write()
    }

    /// Waits until an index update in progress is complete.
    pub(crate) fn wait_for_index_update(&self) {
        drop(self.index_suspect.lock());
    }

    /// Returns the current settings. An operation reads them once, so that it uses the same
    /// settings from start to end.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// Returns the vector sets in use.
    pub(crate) fn sets(&self) -> Arc<VectorSets> {
        Arc::clone(&self.sets.read())
    }

    /// Returns which projects are isolated.
    pub(crate) fn isolation(&self) -> Isolation {
        Isolation::new(self.isolated.read().clone(), &self.settings().default_group)
            .with_off(self.switches.read().off.clone())
    }

    /// Returns which projects are isolated to a viewer.
    pub(crate) fn isolation_for(&self, viewer: Viewer<'_>) -> Isolation {
        self.isolation().seen_by(viewer)
    }

    /// Returns the filter that admits every active, unexpired memory that is visible.
    pub(crate) fn filter<'a>(&self, visibility: &'a Visibility, now: Timestamp) -> Filter<'a> {
        Filter {
            visibility,
            kind: None,
            scope: None,
            min_confidence: Confidence::new(0.0).unwrap_or(Confidence::FULL),
            dormant_below: None,
            now,
            decay: self.settings().decay,
            statuses: Statuses::Active,
        }
    }
}
