//! `cleanup`: forgets memories of low confidence that are not used.

use crate::service::maintenance_run::trusted_now;
use crate::service::{Caller, Service};
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use loci_proto::requests::cleanup::{CleanupReply, CleanupRequest};

/// # Errors
/// `conflict` while the clock is not trusted; `busy`, `storage_failed`.
pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: CleanupRequest,
) -> Result<CleanupReply, Failure> {
    service.flush_usage().await?;
    let pools = service.pools().await?;
    let now = trusted_now(service)?;
    if request.dry_run {
        return Ok(pools.readers.run(move |reader| reader.faded(now)).await??);
    }
    // Without the caller's key: cleanup is never replayed.
    let call = CallContext { now, actor: caller.session.actor(), key: None };
    let done = pools.writer()?.run(move |writer| writer.cleanup(&call, &request)).await??;
    service.request_checkpoint();
    Ok(done)
}
