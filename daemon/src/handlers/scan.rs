//! `scan`: searches the whole store for secrets, and replaces them if asked to.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::scan::{ScanReply, ScanRequest};

impl Handle for ScanRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<ScanReply, Failure> {
        let policy = service.config.policy();
        service.flush_usage().await?;
        if !self.redact {
            return service.read(move |reader| reader.scan(&policy)).await;
        }
        let mut reply =
            service.write(caller, move |writer, call| writer.redact_secrets(call, &policy)).await?;
        // The vectors of redacted memories are computed again.
        service.set_vectors_missing(true);
        let folder = service.backup_folder();
        if reply.redacted > 0 && folder.read_dir().is_ok_and(|mut files| files.next().is_some()) {
            reply.note = Some(format!(
                "Backups are not changed and may hold the secrets: {}",
                folder.display()
            ));
        }
        Ok(reply)
    }
}
