//! The store as the daemon holds it: opening, open behind thread pools, or failed.

use crate::service::pools::Pool;
use loci_engine::operations::groups::GroupRedirects;
use loci_engine::{Reader, WarmupProgress, Writer};
use loci_proto::error::Failure;
use std::sync::Arc;

/// State of the store.
#[derive(Debug, Clone)]
pub enum StoreState {
    /// The store is being opened, migrated and loaded.
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
    /// Groups that were merged into others.
    pub group_redirects: GroupRedirects,
    /// Progress of loading the index.
    pub loading: Arc<WarmupProgress>,
    /// True if the last daemon did not close the store and it has not been checked since.
    pub needs_check: bool,
}
