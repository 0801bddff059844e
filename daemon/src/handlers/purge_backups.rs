//! `purge_backups`: deletes the backups that hold a permanently deleted memory.

use crate::service::Service;
use loci_proto::error::Failure;
use loci_proto::requests::store_admin::{PurgeReply, PurgeRequest};

pub(super) async fn handle(
    service: &Service,
    request: PurgeRequest,
) -> Result<PurgeReply, Failure> {
    let folder = service.backups();
    service.read(move |reader| reader.purge_backups(&request.memory_id, &folder)).await
}
