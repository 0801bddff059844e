//! `topics`: groups the memories that a project sees by what they are about.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::topics::{TopicsReply, TopicsRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: TopicsRequest,
) -> Result<TopicsReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.topics(&request, (&actor).into(), now)).await
}
