//! `store_relation`: relates two entities.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::relate::{RelateReply, RelateRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: RelateRequest,
) -> Result<RelateReply, Failure> {
    service.write(caller, move |writer, call| writer.relate(call, &request)).await
}
