//! `redo`: takes back an undo.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::redo::{RedoReply, RedoRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: RedoRequest,
) -> Result<RedoReply, Failure> {
    let reply = service.write(caller, move |writer, call| writer.redo(call, &request)).await?;
    service.set_vectors_missing(true);
    Ok(reply)
}
