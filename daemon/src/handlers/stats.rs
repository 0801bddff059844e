//! `memory_stats`: counts memories.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::stats::{StatsReply, StatsRequest};

impl Handle for StatsRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<StatsReply, Failure> {
        let (actor, now) = (caller.session.actor(), service.now());
        let reply = service.read(move |reader| reader.stats(&self, &actor, now)).await?;
        let off = match service.off(caller.session).await {
            Some(reason) => {
                let name = service.project_name(caller.session).await;
                Some(format!("{}. {}", reason.sentence(&name), reason.next_step()))
            }
            None => None,
        };
        Ok(StatsReply { off, degraded: service.degraded(), ..reply })
    }
}
