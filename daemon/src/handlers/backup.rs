//! `backup`: makes a verified backup.

use crate::handlers::handle::Handle;
use crate::service::backups::entry;
use crate::service::{Caller, Service};
use loci_engine::backups::manifest::Reason;
use loci_proto::error::Failure;
use loci_proto::requests::backup::{BackupEntry, BackupRequest};

impl Handle for BackupRequest {
    async fn handle(self, service: &Service, _caller: Caller<'_>) -> Result<BackupEntry, Failure> {
        service.flush_or_drop_usage().await?;
        service.back_up(Reason::Manual).await.map(|backup| entry(&backup))
    }
}
