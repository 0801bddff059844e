//! `supersede`: marks one memory as replaced by another.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::supersede::{SupersedeReply, SupersedeRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: SupersedeRequest,
) -> Result<SupersedeReply, Failure> {
    service.write(caller, move |writer, call| writer.supersede(call, &request)).await
}
