//! `wander`: walks from memory to memory along associations.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::wander::{WanderReply, WanderRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: WanderRequest,
) -> Result<WanderReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.wander(&request, (&actor).into(), now)).await
}
