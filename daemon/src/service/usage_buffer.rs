//! Buffer of accesses and click feedback until they are written to the database.
//!
//! Not here: the time of writing (`usage`, `housekeeping`), the effect of an access (the engine).

use loci_engine::operations::eval::ClickFeedback;
use loci_engine::transaction::access::Accesses;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// Accesses and click feedback since the last flush.
#[derive(Debug, Default)]
pub struct UsageBuffer {
    /// How often each memory was returned in full, by row number.
    accesses: Mutex<HashMap<i64, Accesses>>,
    clicks: Mutex<Vec<ClickFeedback>>,
    /// Locked while a flush writes accesses or click feedback.
    flushing: Arc<tokio::sync::Mutex<()>>,
}

impl UsageBuffer {
    /// Counts one access of each of these memories, given by row number. `may_boost` decides whether it may raise the memory's confidence.
    pub fn record_accesses(&self, seqs: &[i64], mut may_boost: impl FnMut(i64) -> bool) {
        if seqs.is_empty() {
            return;
        }
        let mut accesses = self.accesses.lock().unwrap_or_else(PoisonError::into_inner);
        for seq in seqs {
            let counted = accesses.entry(*seq).or_default();
            counted.times += 1;
            counted.may_boost |= may_boost(*seq);
        }
    }

    /// Adds click feedback.
    pub fn record_clicks(&self, clicks: impl Iterator<Item = ClickFeedback>) {
        self.clicks.lock().unwrap_or_else(PoisonError::into_inner).extend(clicks);
    }

    /// Waits until no other flush is in progress; no other can begin until the guard is dropped.
    pub async fn lock_flush(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.flushing).lock_owned().await
    }

    /// Removes and returns the accesses: how often each memory was returned in full, by row number.
    #[must_use]
    pub fn take_accesses(&self) -> HashMap<i64, Accesses> {
        std::mem::take(&mut *self.accesses.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes and returns the click feedback.
    #[must_use]
    pub fn take_clicks(&self) -> Vec<ClickFeedback> {
        std::mem::take(&mut *self.clicks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
