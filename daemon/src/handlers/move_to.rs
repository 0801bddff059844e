//! `move_to`: moves memories to another project.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::move_to::{MoveReply, MoveRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: MoveRequest,
) -> Result<MoveReply, Failure> {
    service.write(caller, move |writer, call| writer.move_to(call, &request)).await
}
