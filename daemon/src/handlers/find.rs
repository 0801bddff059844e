//! `find`: finds memories by a part of their id.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::find::{FindReply, FindRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: FindRequest,
) -> Result<FindReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.find(&request, &actor, now)).await
}
