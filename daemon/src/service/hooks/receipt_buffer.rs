//! Buffer of receipts until they are written to the database. Not here: the time of writing (`receipts`, `housekeeping`).

use loci_engine::hooks::receipt::HookReceipt;
use std::sync::{Mutex, PoisonError};

/// Maximum number of receipts that wait; further ones are dropped while the database cannot be written.
const MAX_WAITING: usize = 4096;

/// Receipts since the last flush.
#[derive(Debug, Default)]
pub struct ReceiptBuffer(Mutex<Vec<HookReceipt>>);

impl ReceiptBuffer {
    /// Adds a receipt.
    pub fn add(&self, receipt: HookReceipt) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_WAITING {
            waiting.push(receipt);
        }
    }

    /// Removes and returns all receipts.
    #[must_use]
    pub fn take(&self) -> Vec<HookReceipt> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
