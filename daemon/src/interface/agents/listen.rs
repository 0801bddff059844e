//! The agents' door: who connects, and whether they are served.
//!
//! Every connection passes the peer's uid and one hello line before MCP begins. Not here: MCP, the admin socket.

use crate::interface::agents::mcp::Door;
use crate::interface::agents::session::Session;
use crate::interface::agents::transport::Lines;
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

use crate::process::startup::End;

/// How long a new connection may take to say hello.
const HELLO_DEADLINE: Duration = Duration::from_secs(2);
/// How long the listener rests when the system gives it no more descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// What every connection needs.
#[derive(Clone)]
pub struct Host {
    /// The verbs.
    pub service: Arc<Service>,
    /// The group of sessions that work in no project.
    pub default_group: GroupName,
    /// Differs between two runs of the daemon.
    pub boot: Arc<str>,
    /// Told when the daemon drains: sessions end after what they have in flight.
    pub draining: CancellationToken,
    /// Counts the connections.
    pub tasks: TaskTracker,
    /// One for each connection that may be open; while there is none, nobody is let in.
    pub open: Arc<Semaphore>,
    /// One for each session that can be served; who finds none is told `busy`.
    pub places: Arc<Semaphore>,
    /// How long a peer may take to read an answer, or to go on with a line, before it is dropped.
    pub patience: Duration,
}

/// The bound socket.
pub type Listener = interprocess::local_socket::tokio::Listener;

/// Binds the agents' socket. The caller holds the lock.
///
/// # Errors
/// As [`bind_with`].
pub fn bind(path: &Path) -> Result<Listener, End> {
    bind_with(path, |path| {
        let name = path.to_fs_name::<GenericFilePath>()?;
        ListenerOptions::new().name(name).reclaim_name(false).create_tokio()
    })
}

/// Takes over a socket that a service manager has bound.
///
/// # Errors
/// `Storage` when the system does not let it be waited for.
pub fn adopt(inherited: std::os::unix::net::UnixListener) -> Result<Listener, End> {
    let failed = |e: io::Error| {
        End::new(
            Exit::Storage,
            Failure::new(Code::StorageFailed, format!("the socket cannot be taken over: {e}")),
        )
    };
    uds_local_socket::tokio::Listener::try_from(OwnedFd::from(inherited))
        .map(Listener::from)
        .map_err(failed)
}

/// Binds a socket for its owner alone; a stale socket in its place is removed. The caller holds the lock.
///
/// # Errors
/// `Storage` when the path cannot be bound; something that is no socket is never removed.
pub fn bind_with<L>(path: &Path, bind: impl FnOnce(&Path) -> io::Result<L>) -> Result<L, End> {
    let bound = remove_stale(path).and_then(|()| bind(path)).and_then(|listener| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    });
    bound.map_err(|e| {
        End::new(
            Exit::Storage,
            Failure::new(Code::StorageFailed, format!("{} cannot be bound: {e}", path.display())),
        )
    })
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => {
            Err(io::Error::other("something that is not a socket is in its place; move it away"))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Accepts connections until the daemon drains.
pub async fn accept(listener: Listener, host: Host) {
    let mut exhausted = false;
    loop {
        let accepted = async {
            let open = Arc::clone(&host.open).acquire_owned().await;
            (open, listener.accept().await)
        };
        let (open, accepted) = tokio::select! {
            () = host.draining.cancelled() => return,
            accepted = accepted => accepted,
        };
        match accepted.and_then(unix_stream) {
            Ok(stream) => {
                exhausted = false;
                let of_connection = host.clone();
                host.tasks.spawn(async move {
                    let _open = open;
                    if let Err(error) = connection(of_connection, stream).await {
                        tracing::debug!(%error, "a connection ended");
                    }
                });
            }
            Err(error) => {
                if !exhausted {
                    tracing::warn!(%error, "no connection can be accepted at the moment");
                }
                exhausted = true;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn unix_stream(stream: interprocess::local_socket::tokio::Stream) -> io::Result<UnixStream> {
    let interprocess::local_socket::tokio::Stream::UdSocket(stream) = stream;
    let fd: OwnedFd = stream.try_into().map_err(|e| io::Error::other(format!("{e:?}")))?;
    UnixStream::from_std(std::os::unix::net::UnixStream::from(fd))
}

async fn connection(host: Host, stream: UnixStream) -> io::Result<()> {
    let uid = stream.peer_cred()?.uid();
    if uid != nix::unistd::geteuid().as_raw() {
        tracing::warn!(uid, "a connection of another user was closed");
        return Ok(());
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let greeting = tokio::time::timeout(HELLO_DEADLINE, greeting(&mut reader))
        .await
        .map_err(|_| io::Error::other("no hello in time"))??;
    let (hello, version, _place) = match judge(&greeting, &host) {
        Ok(welcome) => welcome,
        Err(refusal) => return say(&mut writer, &Refused::new(refusal)).await,
    };
    let welcome = Welcome {
        ok: true,
        loci: version,
        daemon: loci_proto::VERSION.to_owned(),
        boot: host.boot.to_string(),
        pid: std::process::id(),
        tools: handshake::own_fingerprint().to_owned(),
    };
    say(&mut writer, &welcome).await?;
    let session = Session::new(hello.session, &host.default_group, host.service.now());
    let entered = host.service.sessions.enter(session);
    let door =
        Door::new(Arc::clone(&host.service), Arc::clone(&entered.session), host.draining.clone());
    let running = serve_directly_with_ct(
        door,
        Lines::new(reader, writer, host.patience),
        None,
        host.draining.child_token(),
    );
    // The library ends by itself: at the end of the stream, or when the daemon drains, after what is in flight.
    let _ = running.waiting().await;
    Ok(())
}

/// The first line, at most [`limits::HELLO_BYTES`]; of what cannot become a hello, nothing.
async fn greeting(reader: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    // Who speaks another language may never send a newline, and is told at once.
    if reader.fill_buf().await?.first().is_some_and(|first| *first != b'{') {
        return Ok(line);
    }
    reader.take(limits::HELLO_BYTES as u64).read_until(b'\n', &mut line).await?;
    Ok(line)
}

fn judge(greeting: &[u8], host: &Host) -> Result<(Hello, u32, OwnedSemaphorePermit), Refusal> {
    let hello: Hello = serde_json::from_slice(greeting).map_err(|_| Refusal::BadHello)?;
    let version = hello::agreed_version(hello.loci).ok_or(Refusal::Version)?;
    if host.draining.is_cancelled() {
        return Err(Refusal::Draining);
    }
    let place = Arc::clone(&host.places).try_acquire_owned().map_err(|_| Refusal::Busy)?;
    Ok((hello, version, place))
}

async fn say(
    writer: &mut (impl AsyncWriteExt + Unpin),
    line: &impl serde::Serialize,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    writer.write_all(&bytes).await?;
    writer.flush().await
}
