//! `review`: lists pairs of memories that look like versions of one fact, and records which to keep.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::review::{ReviewReply, ReviewRequest};

impl Handle for ReviewRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<ReviewReply, Failure> {
        if self.decides() {
            return service.write(caller, move |writer, call| writer.decide(call, &self)).await;
        }
        let (actor, now) = (caller.session.actor(), service.now());
        service.read(move |reader| reader.review(&self, &actor, now)).await
    }
}
