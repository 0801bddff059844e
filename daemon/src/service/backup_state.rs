//! The state of the backups in this process: whether one runs, when they are checked, and when the last daily one was made.
//!
//! Not here: making them (`backups`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The state of the backups in this process.
#[derive(Debug, Default)]
pub struct Backups {
    /// Held while a backup or a drill runs.
    pub(super) running: tokio::sync::Mutex<()>,
    /// The daemon drains: a running backup ends.
    pub(super) stopped: Arc<AtomicBool>,
    /// Seconds between two checks.
    interval_s: AtomicU64,
    /// When this process made the last daily backup.
    last_daily: Mutex<Option<Instant>>,
}

impl Backups {
    /// Ends a running backup.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Sets the time between two checks whether a backup is due.
    pub fn set_interval(&self, interval: Duration) {
        self.interval_s.store(interval.as_secs(), Ordering::Relaxed);
    }

    /// Returns the time between two checks.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs(self.interval_s.load(Ordering::Relaxed).max(1))
    }

    /// Returns the milliseconds since the last daily backup of this process, else since it started.
    pub(super) fn uptime(&self, started: Instant) -> i64 {
        let last = *self.last_daily.lock().unwrap_or_else(PoisonError::into_inner);
        i64::try_from(last.unwrap_or(started).elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// Records that a daily backup was made.
    pub(super) fn record_daily(&self) {
        let mut last = self.last_daily.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Instant::now());
    }
}
