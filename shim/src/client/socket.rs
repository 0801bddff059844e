//! Connects to a Unix socket of our own user, and finds out which process serves it.

use crate::client::unreachable::Unreachable;
use std::io;
use std::path::Path;
use tokio::net::UnixStream;

/// Connects to a socket and checks that a process of our own user serves it. Sends nothing.
///
/// # Errors
/// `Absent` when nothing listens there; `NoAnswer` when connections are not accepted; `OtherUser` for a process of another user;
/// `Broken` otherwise.
pub async fn connect(socket: &Path) -> Result<UnixStream, Unreachable> {
    let stream = UnixStream::connect(socket).await.map_err(|error| match error.kind() {
        // A daemon that dies at this moment resets connections that it has not accepted.
        io::ErrorKind::NotFound
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset => Unreachable::Absent,
        io::ErrorKind::WouldBlock => Unreachable::NoAnswer { pid: None },
        _ => Unreachable::Broken(format!("{}: {error}", socket.display())),
    })?;
    let peer = stream
        .peer_cred()
        .map_err(|error| Unreachable::Broken(format!("{}: {error}", socket.display())))?;
    let our_uid = nix::unistd::geteuid().as_raw();
    if peer.uid() == our_uid { Ok(stream) } else { Err(Unreachable::OtherUser { uid: peer.uid() }) }
}

/// Returns the pid of the process at the other end.
#[must_use]
pub fn peer_pid(stream: &UnixStream) -> Option<u32> {
    stream.peer_cred().ok()?.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0)
}

/// Returns the pid that a lock file contains.
#[must_use]
pub fn pid_in(lock: &Path) -> Option<u32> {
    std::fs::read_to_string(lock).ok()?.trim().parse().ok()
}
