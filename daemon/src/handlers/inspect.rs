//! `memory_inspect`: returns one memory with everything that is stored about it.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::inspect::{InspectReply, InspectRequest};

impl Handle for InspectRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<InspectReply, Failure> {
        service.flush_usage_unless_loading().await?;
        let (actor, now) = (caller.session.actor(), service.now());
        service.read(move |reader| reader.inspect(&self, &actor, now)).await
    }
}
