//! `undo`: reverts journal entries.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::undo::{UndoReply, UndoRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: UndoRequest,
) -> Result<UndoReply, Failure> {
    let reply = service.write(caller, move |writer, call| writer.undo(call, &request)).await?;
    service.set_vectors_missing(true);
    Ok(reply)
}
