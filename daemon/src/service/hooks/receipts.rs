//! Writes receipts to the database, after the replies, so that no hook waits for the writer; and counts them.

use crate::service::Service;
use loci_engine::hooks::receipt::HookReceipt;
use loci_engine::model::time::Timestamp;
use loci_proto::admin::HookStatus;
use loci_proto::error::Failure;

impl Service {
    /// Writes the receipts of all earlier events to the database, also of those that did not reach the daemon.
    ///
    /// # Errors
    /// `storage_failed`, `busy`; receipts that could not be written are lost.
    pub async fn flush_receipts(&self) -> Result<(), Failure> {
        // A flush in progress may still be writing earlier receipts.
        let lock = self.usage.lock_flush().await;
        let pools = self.pools().await?;
        let writer = pools.writer()?;
        let mut receipts = self.hooks.receipts.take();
        // A hook does not know which sessions became incognito.
        let is_kept = |missed: &HookReceipt| !pools.switches.is_incognito(&missed.session);
        receipts.extend(self.take_missed().into_iter().filter(is_kept));
        if receipts.is_empty() {
            return Ok(());
        }
        let now = self.now();
        let write = move |writer: &mut loci_engine::Writer| {
            let _lock = lock;
            writer.record_receipts(&receipts, now)
        };
        writer.run(write).await??;
        self.request_checkpoint();
        Ok(())
    }

    /// Returns the counts of the hooks of each client.
    ///
    /// # Errors
    /// `storage_failed`, `busy`.
    pub async fn hook_status(&self) -> Result<HookStatus, Failure> {
        let now: Timestamp = self.now();
        self.read(move |reader| reader.hook_status(now)).await
    }
}
