//! Opens the HTTP server: at start if the configuration asks for it, and while `loci serve --http` runs.
//!
//! Not here: serving (`server`).

use crate::interface::agents::listen::ListenerContext;
use crate::interface::agents::mcp::McpHandler;
use crate::interface::http::guard::{Access, Guard};
use crate::interface::http::own_address::OwnAddress;
use crate::interface::http::routes::routes;
use crate::interface::http::server::{self, Users};
use crate::interface::http::sessions::{HttpSessions, IDLE_LIMIT};
use crate::service::Service;
use loci_proto::error::{Code, Failure};
use loci_proto::http::{HttpStatus, Opened, OpenedBy};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The open server; closes it when it is dropped.
pub struct OpenServer {
    /// The reply to the command: URL, token file and token.
    pub opened: Opened,
    service: Arc<Service>,
    closing: CancellationToken,
}

impl Drop for OpenServer {
    fn drop(&mut self) {
        self.closing.cancel();
        self.service.http.set_closed();
        // The idle timeout begins now.
        self.service.sessions.record_activity();
        tracing::info!("HTTP server closed");
    }
}

/// Opens the server if the configuration asks for it. A failure is a warning in `loci ctl status`: agents on the socket are served anyway.
pub async fn open_configured(context: &ListenerContext) -> Option<OpenServer> {
    let server = context.service.config.config().server;
    if !server.serves_http() {
        return None;
    }
    let opened = match server.http_bind_address(None) {
        Ok(address) => open(context, address, OpenedBy::Config).await,
        Err(failure) => Err(failure),
    };
    opened
        .inspect_err(|failure| {
            tracing::error!(%failure, "HTTP server not opened");
            context.service.http.set_failed(failure.clone());
        })
        .ok()
}

/// Opens the server at an address.
///
/// # Errors
/// `conflict` if it is open already, or the port is in use; the fault of the tokens; `storage_failed`.
pub async fn open(
    context: &ListenerContext,
    address: SocketAddr,
    opened_by: OpenedBy,
) -> Result<OpenServer, Failure> {
    let service = &context.service;
    service.http.reserve().map_err(already_open)?;
    let opened = open_reserved(context, address).await;
    match &opened {
        Ok(server) => {
            let url = server.opened.url.clone();
            service.http.set_open(HttpStatus { url, opened_by });
        }
        Err(_) => service.http.set_closed(),
    }
    opened
}

fn already_open(open: Option<HttpStatus>) -> Failure {
    let (by, at) = match open {
        Some(HttpStatus { url, opened_by: OpenedBy::Config }) => ("server.transport", url),
        Some(HttpStatus { url, .. }) => ("another loci serve --http", url),
        None => ("another loci serve --http", "a port that it is opening".to_owned()),
    };
    Failure::new(Code::Conflict, format!("{by} serves HTTP already, at {at}"))
        .hint("Use that URL; loci serve token list names the tokens")
}

async fn open_reserved(
    context: &ListenerContext,
    address: SocketAddr,
) -> Result<OpenServer, Failure> {
    let service = &context.service;
    let token = context.tokens.ensure()?;
    let listener = server::bind(address).await?;
    let address = listener.local_addr().map_err(|e| {
        Failure::new(Code::Internal, format!("the address of the socket is unknown: {e}"))
    })?;
    let closing = context.draining.child_token();
    let sessions = Arc::new(HttpSessions::new(Arc::clone(service), context.default_group.clone()));
    let handler =
        McpHandler::for_http(Arc::clone(service), Arc::clone(&sessions), context.draining.clone());
    let access = Access::Tokens(Arc::clone(&context.tokens));
    let guard = Guard::new(Arc::clone(service), access);
    let router = routes(&guard, &OwnAddress::new(address), handler);
    let tasks = context.tasks.clone();
    context.tasks.spawn(end_idle_sessions(sessions, closing.clone()));
    context.tasks.spawn(server::serve(listener, router, Users::Everybody, closing.clone(), tasks));
    let url = format!("http://{address}/mcp");
    tracing::info!(%url, "HTTP server opened");
    let token_file = context.tokens.path().to_owned();
    let opened = Opened { url, token_file, token };
    Ok(OpenServer { opened, service: Arc::clone(service), closing })
}

async fn end_idle_sessions(sessions: Arc<HttpSessions>, closing: CancellationToken) {
    while closing.run_until_cancelled(tokio::time::sleep(IDLE_LIMIT / 10)).await.is_some() {
        sessions.end_idle();
    }
}
