//! `purge_backups`: deletes the backups that hold a permanently deleted memory.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::purge_backups::{PurgeBackupsReply, PurgeBackupsRequest};

impl Handle for PurgeBackupsRequest {
    async fn handle(
        self,
        service: &Service,
        _caller: Caller<'_>,
    ) -> Result<PurgeBackupsReply, Failure> {
        let folder = service.backup_folder();
        service.read(move |reader| reader.purge_backups(&self.memory_id, &folder)).await
    }
}
