//! Opens a viewer for as long as its command runs.
//!
//! Not here: serving (`http::server`).

use crate::interface::admin::context::AdminContext;
use crate::interface::http::own_address::OwnAddress;
use crate::interface::http::server::{self, Users};
use crate::interface::view::access::Access;
use crate::interface::view::context::ViewContext;
use crate::interface::view::routes::routes;
use crate::service::Service;
use loci_proto::error::{Code, Failure};
use loci_proto::view::{OpenRequest, Opened};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Maximum number of viewers that are open at the same time.
const MAX_VIEWERS: usize = 8;
/// Maximum number of event streams of one viewer, one for each tab.
const MAX_STREAMS: usize = 16;

/// An open viewer; closes it when it is dropped.
pub struct OpenViewer {
    /// The reply to the command: the link.
    pub opened: Opened,
    service: Arc<Service>,
    address: SocketAddr,
    closing: CancellationToken,
}

impl Drop for OpenViewer {
    fn drop(&mut self) {
        self.closing.cancel();
        self.service.viewers.remove(self.address);
        // The idle timeout begins now.
        self.service.sessions.record_activity();
        tracing::info!(address = %self.address, "viewer closed");
    }
}

/// Opens a viewer.
///
/// # Errors
/// `conflict` if the port is in use; `busy` if too many are open; `storage_failed`; `internal`.
pub(crate) async fn open(
    admin: &AdminContext,
    request: OpenRequest,
) -> Result<OpenViewer, Failure> {
    let service = Arc::clone(&admin.service);
    if service.viewers.addresses().len() >= MAX_VIEWERS {
        let message = format!("{MAX_VIEWERS} viewers are open");
        return Err(Failure::new(Code::Busy, message).hint("End a running loci view"));
    }
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, request.port.unwrap_or(0)));
    let hint = "Run loci view without --port, which takes a free one";
    let listener = server::bind(wanted).await.map_err(|failure| match failure.code {
        Code::Conflict => failure.hint(hint),
        _ => failure,
    })?;
    let address = listener.local_addr().map_err(|error| {
        Failure::new(Code::Internal, format!("the address of the socket is unknown: {error}"))
    })?;
    let (access, token) = Access::new(address.port())?;
    let closing = admin.draining.child_token();
    let view = ViewContext {
        admin: admin.clone(),
        access,
        session: request.session,
        streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        closing: closing.clone(),
    };
    let router = routes(&view, &OwnAddress::new(address));
    let tasks = admin.listener.tasks.clone();
    admin.listener.tasks.spawn(server::serve(listener, router, Users::Own, closing.clone(), tasks));
    service.viewers.add(address);
    tracing::info!(%address, "viewer opened");
    let opened = Opened { link: format!("http://{address}/open/{token}") };
    Ok(OpenViewer { opened, service, address, closing })
}
