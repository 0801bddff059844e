//! `reset`: deletes all memories.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::reset::{ResetReply, ResetRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ResetRequest,
) -> Result<ResetReply, Failure> {
    let folder = service.backups();
    if !request.dry_run {
        // Buffered accesses are of memories that are deleted now.
        drop(service.usage.take_accesses());
    }
    service.write(caller, move |writer, call| writer.reset(call, &request, &folder)).await
}
