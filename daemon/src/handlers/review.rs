//! `review`: lists pairs of memories that look like versions of one fact, and records which to keep.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::review::{ReviewReply, ReviewRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ReviewRequest,
) -> Result<ReviewReply, Failure> {
    if request.keep.is_some() || request.unkeep.is_some() {
        return service.write(caller, move |writer, call| writer.keep_both(call, &request)).await;
    }
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.review(&request, &actor, now)).await
}
