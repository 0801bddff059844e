//! `purge_backups`: deletes the backups that hold a permanently deleted memory.

use crate::service::Service;
use loci_proto::error::Failure;
use loci_proto::requests::purge_backups::{PurgeBackupsReply, PurgeBackupsRequest};

pub(super) async fn handle(
    service: &Service,
    request: PurgeBackupsRequest,
) -> Result<PurgeBackupsReply, Failure> {
    let folder = service.backup_folder();
    service.read(move |reader| reader.purge_backups(&request.memory_id, &folder)).await
}
