//! `pin`: pins or unpins one memory.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::edit::ChangedReply;
use loci_proto::requests::pin::PinRequest;

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: PinRequest,
) -> Result<ChangedReply, Failure> {
    service.write(caller, move |writer, call| writer.pin(call, &request)).await
}
