//! `diff`: lists how what is known has changed between two times.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::diff::{DiffReply, DiffRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: DiffRequest,
) -> Result<DiffReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.diff(&request, (&actor).into(), now)).await
}
