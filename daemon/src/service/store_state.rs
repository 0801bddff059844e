//! The state of the store in the daemon: opening, open behind thread pools, or failed.

use crate::service::pools::Pool;
use loci_engine::operations::groups::GroupRedirects;
use loci_engine::{Reader, WarmupProgress, Writer};
use loci_proto::error::Failure;
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
    /// One thread with the only writing connection.
    pub writer: Pool<Writer>,
    /// Threads with a read-only connection each.
    pub readers: Pool<Reader>,
    /// The redirects of groups that were merged into others.
    pub group_redirects: GroupRedirects,
    /// Progress of the warm-up of the index.
    pub warmup: Arc<WarmupProgress>,
    /// True if the previous daemon did not close the store, so that it must be checked.
    pub needs_check: bool,
    /// What the start found wrong with the files, one sentence each.
    pub findings: Vec<String>,
}
