//! The HTTP server: binds the loopback address, accepts connections, and serves each until it is closed.
//!
//! Not here: what a request may do (`guard`), the paths (`routes`), whether it is opened (`opening`).

use crate::interface::http::peer;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use loci_proto::error::{Code, Failure};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum number of open connections; further ones wait in the backlog of the socket.
const MAX_CONNECTIONS: usize = 64;
/// Maximum time for the headers of a request to arrive, and for an idle connection to send the next request.
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
/// Maximum time that a connection may take to end after the server was closed: a client that does not read its answer would hold it.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);
/// Maximum size of the headers of a request, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Pause after a failed accept, for example when the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Whose connections are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Those of every user of this machine: who has a token may run under another one.
    Everybody,
    /// Those of the user whose daemon this is, where the system tells it.
    Own,
}

/// Binds the address.
///
/// # Errors
/// `conflict` if the port is in use; `storage_failed` if the system refuses internet sockets.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::new(Code::Conflict, format!("{address} in use"))
            .hint("Set another server.http_port, or run: loci serve --http --port 0"),
        _ => Failure::new(Code::StorageFailed, format!("{address} cannot be bound: {error}"))
            .hint("A service of systemd needs RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6; see docs/http.md"),
    })
}

/// Serves connections until `closing` is cancelled; then finishes the requests in progress.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    users: Users,
    closing: CancellationToken,
    tasks: TaskTracker,
) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut has_warned = false;
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = closing.cancelled() => return,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                has_warned = false;
                let is_admitted = users == Users::Everybody || is_own_user(&stream);
                let connection = serve_connection(stream, router.clone(), closing.clone());
                tasks.spawn(async move {
                    let _permit = permit;
                    if is_admitted {
                        connection.await;
                    }
                });
            }
            Err(error) => {
                if !has_warned {
                    tracing::warn!(%error, "cannot accept HTTP connections");
                }
                has_warned = true;
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Returns whether a connection is this user's, as far as the system tells it.
fn is_own_user(stream: &TcpStream) -> bool {
    let addresses = stream.peer_addr().and_then(|peer| Ok((peer, stream.local_addr()?)));
    addresses.is_ok_and(|(peer, own)| peer::is_own_user(peer, own))
}

async fn serve_connection(stream: TcpStream, router: Router, closing: CancellationToken) {
    // Without it small answers may wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(MAX_HEADER_BYTES);
    let service = TowerToHyperService::new(router);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(CLOSE_DEADLINE, connection).await {
                Ok(served) => served,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = served {
        // The text of the error has nothing of the request.
        tracing::debug!(%error, "HTTP connection closed");
    }
}
