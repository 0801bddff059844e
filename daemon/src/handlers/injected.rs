//! `injected`: lists what hooks delivered and withheld.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::off::OffReason;
use loci_proto::requests::injected::{InjectedReply, InjectedRequest};

impl Handle for InjectedRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<InjectedReply, Failure> {
        // A store that cannot be written still shows its receipts; one that is being loaded would have to be waited for.
        if service.pools().await?.warmup.progress().is_none() {
            let _ = service.flush_receipts().await;
        }
        let off = match (service.off(caller.session).await, &self.session) {
            (None, Some(id)) if service.is_client_session_off(id).await => {
                Some(OffReason::Incognito)
            }
            (reason, _) => reason,
        };
        let group = service.project_name(caller.session).await;
        let actor = caller.session.actor();
        let reply = service.read(move |reader| reader.injected(&self, (&actor).into())).await?;
        Ok(InjectedReply { group, off, ..reply })
    }
}
