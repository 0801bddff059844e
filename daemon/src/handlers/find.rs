//! `find`: finds memories by a part of their id.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::find::{FindReply, FindRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: FindRequest,
) -> Result<FindReply, Failure> {
    let (own_group, now) = (caller.session.group.clone(), service.now());
    service.read(move |reader| reader.find(&request, &own_group, now)).await
}
