//! `memory_stats`: counts memories.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::stats::{StatsReply, StatsRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: StatsRequest,
) -> Result<StatsReply, Failure> {
    let (own, now) = (caller.session.group.clone(), service.now());
    let reply = service.read(move |reader| reader.stats(&request, &own, now)).await?;
    Ok(StatsReply { degraded: service.degraded(), ..reply })
}
