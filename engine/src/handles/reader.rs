//! The read-only handle of a store. Its operations are in `operations`, one file each.

use crate::error::Result;
use crate::handles::shared::Shared;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A read-only connection together with the shared index.
#[derive(Debug)]
pub struct Reader {
    pub(crate) conn: Connection,
    pub(crate) shared: Arc<Shared>,
}

impl Reader {
    /// Returns whether the text of hard-deleted memories is still in the write-ahead log, because
    /// another reader keeps it from being emptied. A later [`crate::Writer::checkpoint`] empties it.
    #[must_use]
    pub fn is_erase_pending(&self) -> bool {
        self.shared.erase_pending.load(Ordering::Relaxed)
    }

    /// Opens a new connection. FTS5 caches the layout of its index per connection, and a check with
    /// a stale cache reports pages that another connection has moved as damaged.
    pub(crate) fn fresh_connection(&self) -> Result<Connection> {
        self.shared.reader_connection()
    }
}
