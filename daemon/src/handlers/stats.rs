//! `memory_stats`: counts memories.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::stats::{StatsReply, StatsRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: StatsRequest,
) -> Result<StatsReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    let reply = service.read(move |reader| reader.stats(&request, &actor, now)).await?;
    let off = service.off(caller.session).await.map(|reason| {
        format!("{}. {}", reason.sentence(&caller.session.group.name), reason.next_step())
    });
    Ok(StatsReply { off, degraded: service.degraded(), ..reply })
}
