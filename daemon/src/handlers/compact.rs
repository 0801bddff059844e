//! `compact_memories`: returns a cluster of old episodes, or replaces it by the agent's summary.

use crate::handlers::handle::Handle;
use crate::service::maintenance_run::trusted_now;
use crate::service::{Caller, Service, index_warmup};
use loci_engine::maintain;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use loci_proto::requests::compact::{CompactReply, CompactRequest};
use std::sync::Arc;

impl Handle for CompactRequest {
    /// # Errors
    /// The errors of the engine; `conflict` while the clock is not trusted; `busy`, `embed_failed`.
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<CompactReply, Failure> {
        let pools = index_warmup::pools_with_index(service).await?;
        let now = trusted_now(service)?;
        let Some(text) = maintain::summary_text(&self)? else {
            let actor = caller.session.actor();
            return Ok(pools.readers.run(move |reader| reader.compactable(&actor, now)).await??);
        };
        let encodings = Arc::new(service.encode_document(&text.clone().into()).await?);
        let stored = Arc::clone(&encodings);
        let call = CallContext { now, actor: caller.session.actor(), key: caller.key, shown: None };
        let done = pools
            .writer()?
            .run(move |writer| writer.store_agent_summary(&call, &self, &stored))
            .await??;
        service.note_encoded(&encodings);
        service.request_checkpoint();
        Ok(done)
    }
}
