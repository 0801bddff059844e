//! The two sockets' places in the file system: kept, watched, bound anew, and given up.
//!
//! Whoever cleans up a temporary folder takes the sockets with it, and a daemon that nobody can find is worse than none. Not here: what
//! is said on a connection (`listen`, `http`), sockets that somebody hands over (`activation`).

use crate::interface::admin::http;
use crate::interface::agents::listen;
use crate::interface::agents::listen::{Host, Listener};
use crate::process::startup;
use crate::process::startup::End;
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::paths::Paths;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener as Inherited;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// How often the sockets are looked after.
const LOOK: Duration = Duration::from_secs(2);
/// How long a socket is given to say whether somebody listens there.
const KNOCK: Duration = Duration::from_millis(200);
/// Tries, 50 ms apart: the listener of a daemon that was killed can outlive its lock by a moment.
const TRIES: usize = 20;

/// Both sockets, bound but not served yet.
pub struct Bound {
    agents: (Listener, bool),
    admin: UnixListener,
}

/// Binds both sockets, but for one that was handed over. The caller holds the lock.
///
/// # Errors
/// `Storage` when somebody else listens there, when something that is no socket lies there, or when a path cannot be bound.
pub async fn bind(paths: &Paths, inherited: Option<Inherited>) -> Result<Bound, End> {
    let agents = if let Some(inherited) = inherited {
        (listen::adopt(inherited)?, false)
    } else {
        until_free(&paths.socket).await?;
        (listen::bind(&paths.socket)?, true)
    };
    until_free(&paths.admin_socket).await?;
    Ok(Bound { agents, admin: http::bind(&paths.admin_socket)? })
}

async fn until_free(path: &Path) -> Result<(), End> {
    for _ in 0..TRIES {
        if !is_listened_at(path).await {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let failure =
        Failure::new(Code::StorageFailed, format!("somebody else listens at {}", path.display()))
            .hint(
                "If it is a service manager, let it start the daemon: systemctl --user start locid",
            );
    Err(End::new(Exit::Storage, failure))
}

async fn is_listened_at(path: &Path) -> bool {
    match tokio::time::timeout(KNOCK, UnixStream::connect(path)).await {
        Ok(Ok(_)) | Err(_) => true,
        // Nobody takes the connections at the moment, but somebody holds them.
        Ok(Err(error)) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Device and inode of a file. The inode of a socket that is listened at is not given to another file.
type File = (u64, u64);

fn file_at(path: &Path) -> Option<File> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// One socket that is served.
struct Socket {
    path: PathBuf,
    file: Option<File>,
    /// Bound by us; the file of one that was handed over is not ours to remove.
    ours: bool,
    serving: JoinHandle<()>,
}

impl Socket {
    fn new(path: &Path, ours: bool, serving: JoinHandle<()>) -> Self {
        Self { path: path.to_path_buf(), file: file_at(path), ours, serving }
    }

    fn is_in_place(&self) -> bool {
        self.file.is_some() && file_at(&self.path) == self.file
    }

    fn remove(&self) {
        if self.ours
            && self.is_in_place()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(%error, "a socket was gone already");
        }
    }
}

/// Both sockets, served.
pub struct Sockets {
    agents: Socket,
    admin: Socket,
    host: Host,
}

impl Sockets {
    /// Serves both until the daemon drains.
    #[must_use]
    pub fn serve(bound: Bound, paths: &Paths, host: Host) -> Self {
        let (agents, ours) = bound.agents;
        Self {
            agents: Socket::new(&paths.socket, ours, serve_agents(agents, &host)),
            admin: Socket::new(&paths.admin_socket, true, serve_admin(bound.admin, &host)),
            host,
        }
    }

    /// Binds anew what somebody has removed. Returns when somebody else listens in the agents' place: two would serve half each.
    pub async fn watch(&mut self) {
        let mut complained = false;
        loop {
            tokio::time::sleep(LOOK).await;
            if self.agents.is_in_place() && self.admin.is_in_place() {
                complained = false;
                continue;
            }
            if !self.agents.is_in_place() && is_listened_at(&self.agents.path).await {
                tracing::warn!(
                    "somebody else listens in place of the agents' socket; they shall serve"
                );
                return;
            }
            match self.put_back() {
                Ok(()) => tracing::warn!("a socket was gone and has been bound anew"),
                Err(failure) if !complained => {
                    tracing::error!(%failure, "a socket is gone and cannot be bound anew");
                    complained = true;
                }
                Err(_) => {}
            }
        }
    }

    fn put_back(&mut self) -> Result<(), Failure> {
        if let Some(folder) = self.agents.path.parent() {
            startup::private_folder(folder)?;
        }
        if !self.agents.is_in_place() {
            let listener = listen::bind(&self.agents.path).map_err(|end| end.failure)?;
            self.agents.serving.abort();
            self.agents = Socket::new(&self.agents.path, true, serve_agents(listener, &self.host));
        }
        if !self.admin.is_in_place() {
            let listener = http::bind(&self.admin.path).map_err(|end| end.failure)?;
            self.admin.serving.abort();
            self.admin = Socket::new(&self.admin.path, true, serve_admin(listener, &self.host));
        }
        Ok(())
    }

    /// Removes the files of the sockets that are ours, so that nobody knocks in vain.
    pub fn remove(&self) {
        self.agents.remove();
        self.admin.remove();
    }

    /// Waits for the last answers on the admin socket.
    pub async fn served(self) {
        let _ = self.admin.serving.await;
    }
}

fn serve_agents(listener: Listener, host: &Host) -> JoinHandle<()> {
    tokio::spawn(listen::accept(listener, host.clone()))
}

fn serve_admin(listener: UnixListener, host: &Host) -> JoinHandle<()> {
    tokio::spawn(http::serve(listener, host.clone()))
}
