//! `reset`: deletes all memories.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_engine::backups::manifest::Reason;
use loci_proto::error::Failure;
use loci_proto::requests::reset::{ResetReply, ResetRequest};

impl Handle for ResetRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<ResetReply, Failure> {
        let new = service.new_backup(Reason::Reset);
        if !self.dry_run {
            // Buffered accesses are of memories that are deleted now.
            drop(service.usage.take_accesses());
            drop(service.hooks.receipts.take());
            service.hooks.sessions.clear();
            // While agents go on; what they store meanwhile makes another one necessary.
            service.back_up(Reason::Reset).await?;
        }
        service.write(caller, move |writer, _| writer.reset(&self, &new)).await
    }
}

#[cfg(test)]
mod tests {
    use crate::embedding::Embedder;
    use crate::service::test_fixture::ServiceFixture;
    use serde_json::json;

    #[tokio::test]
    async fn only_a_reset_that_deletes_drops_the_buffered_accesses() {
        let folder = tempfile::tempdir().expect("a folder");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_hash_vectors()).by_person();
        let usage = &fixture.service.usage;
        for (dry_run, left) in [(true, 1), (false, 0)] {
            usage.record_accesses(&[1], |_| true);
            fixture.call("reset", json!({"dry_run": dry_run})).await.expect("the call succeeds");
            assert_eq!(usage.take_accesses().len(), left, "dry_run: {dry_run}");
        }
        fixture.close();
    }
}
