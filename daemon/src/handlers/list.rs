//! `list`: lists memories by attribute.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::list::{ListReply, ListRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ListRequest,
) -> Result<ListReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.list(&request, &actor, now)).await
}
