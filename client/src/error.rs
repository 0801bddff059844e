//! Why a call failed.

use std::io;
use std::path::PathBuf;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No daemon listens at the socket.
    #[error("no daemon listens at {}; run loci ctl start", .0.display())]
    NoDaemon(PathBuf),
    /// The paths of the daemon cannot be found.
    #[error("the paths of loci cannot be found: {0}")]
    Paths(String),
    /// The daemon does not accept the session.
    #[error("the daemon does not accept this client: {0}")]
    NotAccepted(String),
    /// The daemon refused the call: the reason and the next step.
    #[error("{0}")]
    Refused(String),
    /// The connection broke, or no answer came in time.
    #[error("the connection to the daemon broke: {0}")]
    Broken(#[from] io::Error),
    /// An answer does not have the expected shape: the daemon has another version.
    #[error("the daemon's answer cannot be parsed: {0}")]
    Unreadable(#[from] serde_json::Error),
}
