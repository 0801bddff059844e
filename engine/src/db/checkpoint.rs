//! Checkpoints: committed pages are moved from the write-ahead log into the database file.
//!
//! Each is counted in `meta` before it begins, with the salt of the log, so that the file names the
//! log that it belongs to. Not here: when a checkpoint runs (`handles::writer`), the checksums of
//! the moved pages (`database_files::store_files`).

use crate::db::{connection, health};
use crate::error::Result;
use crate::model::time::ClockReading;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long [`try_truncate_log`] waits for a reader. The daemon tries again later.
const READER_WAIT: Duration = Duration::from_millis(200);

/// The outcome of a checkpoint, in frames of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Committed frames in the log.
    pub committed: u32,
    /// How many of them are in the database file.
    pub moved: u32,
}

impl Moved {
    /// Returns whether the file has everything that was in the log.
    pub fn is_complete(self) -> bool {
        self.moved >= self.committed
    }

    /// All frames were moved, and the log is empty.
    pub const ALL: Self = Self { committed: 0, moved: 0 };
}

/// Counts the committed frames of the log from now on.
pub(crate) fn count_frames(conn: &mut Connection) -> Result<Arc<AtomicU32>> {
    let committed = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&committed);
    conn.wal_hook(Some(move |_: &mut Wal, frames: c_int| {
        counter.store(u32::try_from(frames).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(committed)
}

/// What is recorded before a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Announcement {
    /// The first salt of the log.
    pub wal_salt: Option<u32>,
    /// The time.
    pub reading: Option<ClockReading>,
    /// Whether it only continues the last checkpoint, which moved a part. Such a checkpoint is not
    /// counted: the file must never be more than one checkpoint behind its log.
    pub continues: bool,
}

/// Counts the checkpoint that follows, and records the time. Returns the number of checkpoints.
pub(crate) fn announce(conn: &Connection, announcement: Announcement) -> Result<i64> {
    let Announcement { wal_salt, reading, continues } = announcement;
    let tx = conn.unchecked_transaction()?;
    match reading {
        Some(ClockReading { now, is_trusted: true }) => health::set_last_seen(&tx, now)?,
        Some(ClockReading { now, is_trusted: false }) => health::suspect(&tx, now)?,
        None => {}
    }
    if let Some(salt) = wal_salt {
        health::set_meta(&tx, "wal_salt", &salt.to_string())?;
    }
    let number = match health::number(&tx, "checkpoints")? {
        Some(number) if continues => number,
        _ => health::add_one(&tx, "checkpoints")?,
    };
    tx.commit()?;
    Ok(number)
}

/// Moves committed pages into the database file as far as readers allow.
pub(crate) fn passive(conn: &Connection) -> Result<Moved> {
    let frames = |count: i64| u32::try_from(count).unwrap_or(0);
    Ok(conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        Ok(Moved { committed: frames(row.get(1)?), moved: frames(row.get(2)?) })
    })?)
}

/// Moves all pages and empties the log; returns false if a reader blocks it for [`READER_WAIT`].
pub(crate) fn try_truncate_log(conn: &Connection) -> Result<bool> {
    conn.busy_timeout(READER_WAIT)?;
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    conn.busy_timeout(connection::BUSY_TIMEOUT)?;
    Ok(busy? == 0)
}
