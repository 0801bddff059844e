//! The files of the two sockets: bound, watched, bound again if they were removed, and removed at shutdown.
//!
//! A cleaner of temporary folders may remove the socket files, and a daemon that nobody can reach would block the start of another one.
//! Not here: connections (`listen`, `http`), sockets passed by a service manager (`activation`).

use crate::interface::admin::http;
use crate::interface::agents::listen;
use crate::interface::agents::listen::{Listener, ListenerContext};
use crate::process::startup;
use crate::process::startup::StartupError;
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::paths::Paths;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener as Inherited;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// Interval at which the socket files are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Timeout of a test connection.
const PROBE_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum number of checks, 50 ms apart, until a path has no listener: the listener of a killed daemon can briefly outlive its lock.
const BIND_ATTEMPTS: usize = 20;

/// Both sockets, bound but not served yet.
pub struct Bound {
    agents: Listener,
    /// False if the agents' socket was passed by a service manager, which then owns its file.
    owns_agents: bool,
    admin: UnixListener,
}

/// Binds both sockets; uses the agents' socket that a service manager passed, if there is one. The caller must hold the lock.
///
/// # Errors
/// `Storage` if another process listens at a path, if a file there is not a socket, or if a path cannot be bound.
pub async fn bind(paths: &Paths, inherited: Option<Inherited>) -> Result<Bound, StartupError> {
    let owns_agents = inherited.is_none();
    let agents = if let Some(inherited) = inherited {
        listen::adopt(inherited)?
    } else {
        wait_until_free(&paths.socket).await?;
        listen::bind(&paths.socket)?
    };
    wait_until_free(&paths.admin_socket).await?;
    Ok(Bound { agents, owns_agents, admin: http::bind(&paths.admin_socket)? })
}

async fn wait_until_free(path: &Path) -> Result<(), StartupError> {
    for _ in 0..BIND_ATTEMPTS {
        if !has_listener(path).await {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let failure = Failure::new(
        Code::StorageFailed,
        format!("another process listens at {}", path.display()),
    )
    .hint("If it is a service manager, start the daemon with it: systemctl --user start locid");
    Err(StartupError::new(Exit::Storage, failure))
}

async fn has_listener(path: &Path) -> bool {
    match tokio::time::timeout(PROBE_TIMEOUT, UnixStream::connect(path)).await {
        Ok(Ok(_)) | Err(_) => true,
        // The backlog is full, so a process holds the socket.
        Ok(Err(error)) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Identity of a file. The inode of a bound socket is not reused for another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

/// Returns the identity of the file at a path, if there is one.
fn file_at(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some(FileIdentity { device: metadata.dev(), inode: metadata.ino() })
}

/// A socket that is served.
struct Socket {
    path: PathBuf,
    file: Option<FileIdentity>,
    /// True if this process bound it; the file of a socket that was passed to it is not removed.
    is_owned: bool,
    serving: JoinHandle<()>,
}

impl Socket {
    fn new(path: &Path, is_owned: bool, serving: JoinHandle<()>) -> Self {
        Self { path: path.to_path_buf(), file: file_at(path), is_owned, serving }
    }

    fn is_in_place(&self) -> bool {
        self.file.is_some() && file_at(&self.path) == self.file
    }

    fn remove(&self) {
        if self.is_owned
            && self.is_in_place()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(%error, "socket file already removed");
        }
    }
}

/// Both sockets while they are served.
pub struct Sockets {
    agents: Socket,
    admin: Socket,
    context: ListenerContext,
}

impl Sockets {
    /// Serves both sockets until the daemon drains.
    #[must_use]
    pub fn serve(bound: Bound, paths: &Paths, context: ListenerContext) -> Self {
        Self {
            agents: Socket::new(
                &paths.socket,
                bound.owns_agents,
                serve_agents(bound.agents, &context),
            ),
            admin: Socket::new(&paths.admin_socket, true, serve_admin(bound.admin, &context)),
            context,
        }
    }

    /// Binds a removed socket again. Returns when another process listens at the agents' path: two daemons would each serve a part of
    /// the agents.
    pub async fn watch(&mut self) {
        let mut is_reported = false;
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if self.agents.is_in_place() && self.admin.is_in_place() {
                is_reported = false;
                continue;
            }
            if !self.agents.is_in_place() && has_listener(&self.agents.path).await {
                tracing::warn!("another process listens at the agents' socket; shutting down");
                return;
            }
            match self.bind_again() {
                Ok(()) => tracing::warn!("a socket was removed; bound it again"),
                Err(failure) if !is_reported => {
                    tracing::error!(%failure, "a socket was removed and cannot be bound again");
                    is_reported = true;
                }
                Err(_) => {}
            }
        }
    }

    fn bind_again(&mut self) -> Result<(), Failure> {
        if let Some(folder) = self.agents.path.parent() {
            startup::private_folder(folder)?;
        }
        if !self.agents.is_in_place() {
            let listener = listen::bind(&self.agents.path).map_err(|error| error.failure)?;
            self.agents.serving.abort();
            self.agents =
                Socket::new(&self.agents.path, true, serve_agents(listener, &self.context));
        }
        if !self.admin.is_in_place() {
            let listener = http::bind(&self.admin.path).map_err(|error| error.failure)?;
            self.admin.serving.abort();
            self.admin = Socket::new(&self.admin.path, true, serve_admin(listener, &self.context));
        }
        Ok(())
    }

    /// Removes the socket files that this process created, so that no client tries to connect.
    pub fn remove(&self) {
        self.agents.remove();
        self.admin.remove();
    }

    /// Waits until the last requests on the admin socket are answered.
    pub async fn finish_admin(self) {
        let _ = self.admin.serving.await;
    }
}

fn serve_agents(listener: Listener, context: &ListenerContext) -> JoinHandle<()> {
    tokio::spawn(listen::accept(listener, context.clone()))
}

fn serve_admin(listener: UnixListener, context: &ListenerContext) -> JoinHandle<()> {
    tokio::spawn(http::serve(listener, context.clone()))
}
