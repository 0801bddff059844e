//! The agents' socket: binds it, accepts connections, and checks the peer's user id and hello line before MCP begins.
//!
//! Not here: MCP (`mcp`), the admin socket (`admin::http`).

use crate::interface::agents::mcp::McpHandler;
use crate::interface::agents::session::{Session, SessionKind};
use crate::interface::agents::transport::LineTransport;
use crate::interface::http::tokens::Tokens;
use crate::process::startup::StartupError;
use crate::service::Service;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::{GenericFilePath, ListenerOptions};
use interprocess::os::unix::uds_local_socket;
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::group::GroupName;
use loci_proto::hello;
use loci_proto::hello::{Hello, Refusal, Refused, Welcome};
use loci_proto::limits;
use loci_proto::mcp::handshake;
use rmcp::service::serve_directly_with_ct;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum time for a new connection to send its hello line.
const HELLO_DEADLINE: Duration = Duration::from_secs(2);
/// Pause after a failed accept, for example when the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The context that all connections share.
#[derive(Clone)]
pub struct ListenerContext {
    /// The service.
    pub service: Arc<Service>,
    /// The group of sessions outside any project.
    pub default_group: GroupName,
    /// Identifies this run of the daemon.
    pub boot_id: Arc<str>,
    /// Cancelled when the daemon drains: sessions end after their calls in flight.
    pub draining: CancellationToken,
    /// Tracks the connections.
    pub tasks: TaskTracker,
    /// One permit for each open connection; without a free one, no connection is accepted.
    pub connection_permits: Arc<Semaphore>,
    /// One permit for each session; without a free one, a hello is refused as `busy`.
    pub session_permits: Arc<Semaphore>,
    /// Maximum time for a peer to read an answer, or to continue a line, before it is disconnected.
    pub peer_timeout: Duration,
    /// The tokens of HTTP clients.
    pub tokens: Arc<Tokens>,
}

/// The bound agents' socket.
pub type Listener = interprocess::local_socket::tokio::Listener;

/// Binds the agents' socket. The caller must hold the lock.
///
/// # Errors
/// As [`bind_with`].
pub fn bind(path: &Path) -> Result<Listener, StartupError> {
    bind_with(path, |path| {
        let name = path.to_fs_name::<GenericFilePath>()?;
        ListenerOptions::new().name(name).reclaim_name(false).create_tokio()
    })
}

/// Uses a socket that a service manager has bound.
///
/// # Errors
/// `Storage` if the system cannot wait for its connections.
pub fn adopt(inherited: std::os::unix::net::UnixListener) -> Result<Listener, StartupError> {
    let failed = |e: io::Error| {
        StartupError::new(
            Exit::Storage,
            Failure::new(Code::StorageFailed, format!("the inherited socket cannot be used: {e}")),
        )
    };
    uds_local_socket::tokio::Listener::try_from(OwnedFd::from(inherited))
        .map(Listener::from)
        .map_err(failed)
}

/// Binds a socket that only its owner can open; removes a stale socket at its path. The caller must hold the lock.
///
/// # Errors
/// `Storage` if the path cannot be bound; a file that is not a socket is never removed.
pub fn bind_with<L>(
    path: &Path,
    bind: impl FnOnce(&Path) -> io::Result<L>,
) -> Result<L, StartupError> {
    let bound = remove_stale(path).and_then(|()| bind(path)).and_then(|listener| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    });
    bound.map_err(|e| {
        StartupError::new(
            Exit::Storage,
            Failure::new(Code::StorageFailed, format!("{} cannot be bound: {e}", path.display())),
        )
    })
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::other("a file that is not a socket is at this path; move it away")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Accepts connections until the daemon drains.
pub async fn accept(listener: Listener, context: ListenerContext) {
    let mut has_warned = false;
    loop {
        let accepted = async {
            let permit = Arc::clone(&context.connection_permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = context.draining.cancelled() => return,
            accepted = accepted => accepted,
        };
        match accepted.and_then(unix_stream) {
            Ok(stream) => {
                has_warned = false;
                let connection_context = context.clone();
                context.tasks.spawn(async move {
                    let _permit = permit;
                    if let Err(error) = serve_connection(connection_context, stream).await {
                        tracing::debug!(%error, "connection closed");
                    }
                });
            }
            Err(error) => {
                if !has_warned {
                    tracing::warn!(%error, "cannot accept connections");
                }
                has_warned = true;
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn unix_stream(stream: interprocess::local_socket::tokio::Stream) -> io::Result<UnixStream> {
    let interprocess::local_socket::tokio::Stream::UdSocket(stream) = stream;
    let fd: OwnedFd = stream.try_into().map_err(|e| io::Error::other(format!("{e:?}")))?;
    UnixStream::from_std(std::os::unix::net::UnixStream::from(fd))
}

async fn serve_connection(context: ListenerContext, stream: UnixStream) -> io::Result<()> {
    let uid = stream.peer_cred()?.uid();
    if uid != nix::unistd::geteuid().as_raw() {
        tracing::warn!(uid, "refused a connection of another user");
        return Ok(());
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let hello_line = tokio::time::timeout(HELLO_DEADLINE, read_hello(&mut reader))
        .await
        .map_err(|_| io::Error::other("the hello line did not arrive in time"))??;
    let accepted_hello = match admit(&hello_line, &context) {
        Ok(accepted_hello) => accepted_hello,
        Err(refusal) => return write_line(&mut writer, &Refused::new(refusal)).await,
    };
    let welcome = Welcome {
        ok: true,
        loci: accepted_hello.version,
        daemon: loci_proto::VERSION.to_owned(),
        boot: context.boot_id.to_string(),
        pid: std::process::id(),
        tools: handshake::own_fingerprint().to_owned(),
    };
    write_line(&mut writer, &welcome).await?;
    let session = Session::new(
        accepted_hello.hello.session,
        SessionKind::Agent,
        &context.default_group,
        context.service.now(),
    );
    let guard = context.service.sessions.register(session);
    let handler = McpHandler::new(
        Arc::clone(&context.service),
        Arc::clone(&guard.session),
        context.draining.clone(),
    );
    let running = serve_directly_with_ct(
        handler,
        LineTransport::new(reader, writer, context.peer_timeout),
        None,
        context.draining.child_token(),
    );
    // Returns at the end of the stream; when the daemon drains, after the calls in flight.
    let _ = running.waiting().await;
    Ok(())
}

/// Reads the first line, at most [`limits::HELLO_BYTES`]; returns an empty line if it cannot be a hello.
async fn read_hello(reader: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    // A peer that speaks another protocol may never send a newline; it is refused at once.
    if reader.fill_buf().await?.first().is_some_and(|first| *first != b'{') {
        return Ok(line);
    }
    reader.take(limits::HELLO_BYTES as u64).read_until(b'\n', &mut line).await?;
    Ok(line)
}

/// The accepted hello of a connection.
struct AcceptedHello {
    hello: Hello,
    /// The agreed protocol version.
    version: u32,
    _permit: OwnedSemaphorePermit,
}

/// Checks the hello line and takes a session permit.
fn admit(hello_line: &[u8], context: &ListenerContext) -> Result<AcceptedHello, Refusal> {
    let hello: Hello = serde_json::from_slice(hello_line).map_err(|_| Refusal::BadHello)?;
    let version = hello::agreed_version(hello.loci).ok_or(Refusal::Version)?;
    if context.draining.is_cancelled() {
        return Err(Refusal::Draining);
    }
    let permit =
        Arc::clone(&context.session_permits).try_acquire_owned().map_err(|_| Refusal::Busy)?;
    Ok(AcceptedHello { hello, version, _permit: permit })
}

async fn write_line(
    writer: &mut (impl AsyncWriteExt + Unpin),
    line: &impl serde::Serialize,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    writer.write_all(&bytes).await?;
    writer.flush().await
}
