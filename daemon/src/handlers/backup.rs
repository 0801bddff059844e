//! `backup`: makes a verified backup.

use crate::service::Service;
use crate::service::backups::entry;
use loci_engine::backups::manifest::Reason;
use loci_proto::error::Failure;
use loci_proto::requests::backup::BackupEntry;

pub(super) async fn handle(service: &Service) -> Result<BackupEntry, Failure> {
    service.flush_or_drop_usage().await?;
    service.back_up(Reason::Manual).await.map(|backup| entry(&backup))
}
