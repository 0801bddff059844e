//! The read-only handle of a store. Its operations are in `operations`, one file each.

use crate::db::cipher;
use crate::encryption::KeyId;
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::model::past::Past;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A read-only connection together with the shared index.
#[derive(Debug)]
pub struct Reader {
    pub(crate) conn: Connection,
    pub(crate) shared: Arc<Shared>,
    /// Set if the connection sees the store at an earlier time.
    pub(crate) past: Option<Past>,
}

impl Reader {
    /// Returns a reader of the present.
    pub(crate) fn new(shared: &Arc<Shared>) -> Result<Self> {
        Ok(Self { conn: shared.reader_connection()?, shared: Arc::clone(shared), past: None })
    }

    /// Returns whether the text of hard-deleted memories is still in the write-ahead log, because
    /// another reader keeps it from being emptied. A later [`crate::Writer::checkpoint`] empties it.
    #[must_use]
    pub fn is_erase_pending(&self) -> bool {
        self.shared.erase_pending.load(Ordering::Relaxed)
    }

    /// Returns the key of the database; `None` if it is not encrypted.
    #[must_use]
    pub fn key(&self) -> Option<KeyId> {
        cipher::key_of(&self.conn)
    }

    /// Opens a new connection. FTS5 caches the layout of its index per connection, and a check with
    /// a stale cache reports pages that another connection has moved as damaged.
    pub(crate) fn fresh_connection(&self) -> Result<Connection> {
        self.shared.reader_connection()
    }
}
