//! `cleanup`: forgets memories of low confidence that are not used.

use crate::handlers::handle::Handle;
use crate::service::maintenance_run::trusted_now;
use crate::service::{Caller, Service};
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use loci_proto::requests::cleanup::{CleanupReply, CleanupRequest};

impl Handle for CleanupRequest {
    /// # Errors
    /// `conflict` while the clock is not trusted; `busy`, `storage_failed`.
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<CleanupReply, Failure> {
        service.flush_usage().await?;
        let pools = service.pools().await?;
        let now = trusted_now(service)?;
        if self.dry_run {
            return Ok(pools.readers.run(move |reader| reader.faded(now)).await??);
        }
        // Without the caller's key: cleanup is never replayed.
        let call = CallContext { now, actor: caller.session.actor(), key: None, shown: None };
        let done = pools.writer()?.run(move |writer| writer.cleanup(&call, &self)).await??;
        service.request_checkpoint();
        Ok(done)
    }
}
