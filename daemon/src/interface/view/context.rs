//! What the routes of one viewer share.

use crate::interface::admin::context::AdminContext;
use crate::interface::view::access::Access;
use loci_proto::hello::{Session, Speaker};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The state of the router.
#[derive(Clone)]
pub struct ViewContext {
    pub(super) admin: AdminContext,
    pub(super) access: Access,
    /// The session of the command that opened the viewer.
    pub(super) session: Session,
    /// Permits of open event streams.
    pub(super) streams: Arc<Semaphore>,
    /// Cancelled when the viewer closes.
    pub(super) closing: CancellationToken,
}

impl ViewContext {
    /// Returns whether the page only reads: no person has opened it.
    pub(super) fn is_read_only(&self) -> bool {
        self.session.speaker != Speaker::Person
    }
}
