//! `restore_memory`: makes a forgotten, superseded or compacted memory active again.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: RestoreRequest,
) -> Result<RestoreReply, Failure> {
    let reply = service.write(caller, move |writer, call| writer.restore(call, &request)).await?;
    service.set_vectors_missing(true);
    Ok(reply)
}
