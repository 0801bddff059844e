//! `loci ctl stop`: no daemon any more, whether one ran before or not.

use crate::client::admin;
use crate::client::admin::NotDone;
use crate::client::{Pauses, Unreachable, pid_in};
use crate::output::{Problem, say};
use crate::spawn::folders;
use loci_proto::paths::Paths;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

/// How long a daemon may take to end: it finishes what runs, then closes its database.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stops the daemon and says so; with `hold` nothing starts it again until `loci ctl start`.
///
/// # Errors
/// A daemon that does not answer, or does not end.
pub async fn run(paths: &Paths, hold: bool) -> Result<(), Problem> {
    if hold {
        folders::make(&paths.home)?;
        File::create(&paths.hold)?;
    }
    let until = if hold { " and stays so until loci ctl start" } else { "" };
    say(match stop(paths).await? {
        Stopped::NoneRan => format!("locid is not running{until}"),
        Stopped::Gone => format!("locid has stopped{until}"),
        Stopped::Followed => {
            "locid has stopped, and an agent's call has started it again; --hold keeps it down"
                .to_owned()
        }
    })
}

/// What has become of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// There was none.
    NoneRan,
    /// It is gone.
    Gone,
    /// It is gone, and another has taken its place already.
    Followed,
}

/// Stops the daemon and waits until it is gone.
///
/// # Errors
/// A daemon that does not answer, or does not end.
pub async fn stop(paths: &Paths) -> Result<Stopped, Problem> {
    let told = pid_in(&paths.lock);
    match admin::post(paths, "/stop").await {
        Ok(_) => {}
        Err(NotDone::Unreachable(Unreachable::Absent)) => return Ok(Stopped::NoneRan),
        Err(reason) => return Err(reason.into()),
    }
    timeout(PATIENCE, until_it_is_gone(paths, told)).await.map_err(|_| {
        Problem::new("locid was told to stop and has not ended within 10 seconds")
            .hint("`loci ctl logs` shows what it is doing")
    })
}

async fn until_it_is_gone(paths: &Paths, told: Option<u32>) -> Stopped {
    let mut pauses = Pauses::default();
    // The lock is looked at last: while it is looked at, a new daemon could not take it.
    while paths.socket.exists() || is_locked(&paths.lock) {
        if pid_in(&paths.lock).is_some_and(|pid| told.is_some_and(|told| told != pid)) {
            return Stopped::Followed;
        }
        pauses.pause().await;
    }
    Stopped::Gone
}

fn is_locked(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
}
