//! Memories that recalls returned and previews that led to a recall, collected until they are written to the database.
//!
//! Not here: when they are written (`usage`, `housekeeping`), what an access changes (the engine).

use loci_engine::operations::eval::ClickFeedback;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// Accesses and click feedback since the last flush.
#[derive(Debug, Default)]
pub struct UsageBuffer {
    /// How often each memory was returned in full, by row number.
    accesses: Mutex<HashMap<i64, u32>>,
    clicks: Mutex<Vec<ClickFeedback>>,
    /// Held while either is written.
    flushing: Arc<tokio::sync::Mutex<()>>,
}

impl UsageBuffer {
    /// Counts one access of each of these memories.
    pub fn record_accesses(&self, given: &[i64]) {
        if given.is_empty() {
            return;
        }
        let mut accesses = self.accesses.lock().unwrap_or_else(PoisonError::into_inner);
        for seq in given {
            *accesses.entry(*seq).or_default() += 1;
        }
    }

    /// Adds click feedback.
    pub fn record_clicks(&self, clicks: impl Iterator<Item = ClickFeedback>) {
        self.clicks.lock().unwrap_or_else(PoisonError::into_inner).extend(clicks);
    }

    /// Waits until no other flush is being written, and locks out further ones until the guard is dropped.
    pub async fn lock_flush(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.flushing).lock_owned().await
    }

    /// Takes the accesses: how often each memory was returned, by row number.
    #[must_use]
    pub fn take_accesses(&self) -> HashMap<i64, u32> {
        std::mem::take(&mut *self.accesses.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the click feedback.
    #[must_use]
    pub fn take_clicks(&self) -> Vec<ClickFeedback> {
        std::mem::take(&mut *self.clicks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
