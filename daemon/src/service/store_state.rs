//! The state of the store in the daemon: opening, open behind thread pools, or failed.

use crate::service::pools::Pool;
use loci_engine::error::Result as EngineResult;
use loci_engine::operations::groups::GroupRedirects;
use loci_engine::operations::isolation::IsolatedGroups;
use loci_engine::operations::switches::Switches;
use loci_engine::{ActiveSets, DamagedRows, Reader, WarmupProgress, Writer};
use loci_proto::error::{Code, Failure, StorageFault};
use std::sync::Arc;

/// State of the store.
#[derive(Debug, Clone)]
pub enum StoreState {
    /// The store is being opened and migrated; the index of a small store is also loaded.
    Opening,
    /// The store serves calls.
    Open(Arc<StorePools>),
    /// The store cannot be opened; the daemon shuts down after it has reported this.
    Failed(Failure),
}

/// The thread pools that own the store's connections.
#[derive(Debug)]
pub struct StorePools {
    writer: Result<Pool<Writer>, Failure>,
    /// Threads with a read-only connection each.
    pub readers: Pool<Reader>,
    /// The redirects of groups that were merged into others.
    pub group_redirects: GroupRedirects,
    /// The isolated projects.
    pub isolated: IsolatedGroups,
    /// The switches of projects and sessions.
    pub switches: Switches,
    /// The vector sets in use.
    pub sets: ActiveSets,
    /// Progress of the warm-up of the index.
    pub warmup: Arc<WarmupProgress>,
    /// True if the whole store must be checked: the previous daemon did not close it, or a fault is known.
    pub needs_check: bool,
    /// The damaged rows that were found.
    pub damaged_rows: Arc<DamagedRows>,
}

/// What can be read of a store without a connection.
#[derive(Debug)]
pub struct StoreViews {
    /// The redirects of groups that were merged into others.
    pub group_redirects: GroupRedirects,
    /// The isolated projects.
    pub isolated: IsolatedGroups,
    /// The switches of projects and sessions.
    pub switches: Switches,
    /// The vector sets in use.
    pub sets: ActiveSets,
    /// Progress of the warm-up of the index.
    pub warmup: Arc<WarmupProgress>,
}

impl StorePools {
    /// Creates the pools of a store. `writer` is one thread with the only writing connection, or why there is none: the store was opened
    /// on a disk that cannot be written.
    #[must_use]
    pub fn new(
        writer: Result<Pool<Writer>, Failure>,
        readers: Pool<Reader>,
        views: StoreViews,
        needs_check: bool,
    ) -> Self {
        let StoreViews { group_redirects, isolated, switches, sets, warmup } = views;
        let damaged_rows = Arc::default();
        Self {
            writer,
            readers,
            group_redirects,
            isolated,
            switches,
            sets,
            warmup,
            needs_check,
            damaged_rows,
        }
    }

    /// Sets where the store records damaged rows.
    #[must_use]
    pub fn with_damaged_rows(self, damaged_rows: Arc<DamagedRows>) -> Self {
        Self { damaged_rows, ..self }
    }

    /// Returns the thread with the only writing connection.
    ///
    /// # Errors
    /// `storage_failed` with the reason and the next step if the store is read-only.
    pub fn writer(&self) -> Result<&Pool<Writer>, Failure> {
        self.writer.as_ref().map_err(Clone::clone)
    }

    /// Runs work of the background on the writer. It waits only briefly while another program locks
    /// the database, because the calls behind it wait for it too.
    ///
    /// # Errors
    /// `busy` under such a lock; the errors of the engine and of [`StorePools::writer`].
    pub async fn run_briefly<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writer) -> EngineResult<T> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.writer()?.run(|writer| writer.briefly(work)).await??)
    }
}

/// Returns the failure of a write to a store that was opened read-only.
#[must_use]
pub fn read_only_failure(fault: StorageFault) -> Failure {
    let (why, hint) = match fault {
        StorageFault::Full => {
            ("the disk is full", "Free some space; loci stores again within seconds")
        }
        StorageFault::ReadOnly => {
            ("the data folder is read-only", "Make it writable; loci stores again within seconds")
        }
        StorageFault::Io | StorageFault::Damaged => {
            ("the disk fails", "Export your memories (loci export), then check the disk")
        }
    };
    Failure::new(Code::StorageFailed, format!("{why}; nothing was stored"))
        .hint(hint)
        .caused_by(fault)
}
