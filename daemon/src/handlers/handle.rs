//! [`Handle`]: a verb that needs more than the store.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::Verb;

/// A verb that needs more than the store: a model, the configuration, the files beside the database, the other sessions.
pub(super) trait Handle: Verb {
    /// Handles a call of the verb.
    fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> impl Future<Output = Result<Self::Reply, Failure>> + Send;
}
