//! `facets`: counts memories by attribute.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::facets::FacetsReply;
use loci_proto::requests::list::ListRequest;

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ListRequest,
) -> Result<FacetsReply, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    service.read(move |reader| reader.facets(&request, &actor, now)).await
}
