//! `loci ctl stop`: no daemon any more, whether one ran before or not.

use crate::client::admin::{self, NotDone};
use crate::client::{Pauses, Unreachable};
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
    let stopped = stop(paths).await?;
    let how_long = if hold { " and stays so until loci ctl start" } else { "" };
    say(format!("locid {}{how_long}", if stopped { "has stopped" } else { "is not running" }))
}

/// Stops the daemon and waits until it is gone; false when there was none.
///
/// # Errors
/// A daemon that does not answer, or does not end.
pub async fn stop(paths: &Paths) -> Result<bool, Problem> {
    match admin::post(paths, "/stop").await {
        Ok(_) => {}
        Err(NotDone::Unreachable(Unreachable::Absent)) => return Ok(false),
        Err(reason) => return Err(reason.into()),
    }
    match timeout(PATIENCE, until_it_is_gone(paths)).await {
        Ok(()) => Ok(true),
        Err(_) => {
            Err(Problem::new("locid was told to stop and has not ended within 10 seconds").hint("`loci ctl logs` shows what it is doing"))
        }
    }
}

async fn until_it_is_gone(paths: &Paths) {
    let mut pauses = Pauses::default();
    // The lock is looked at last: while it is looked at, a new daemon could not take it.
    while paths.socket.exists() || is_locked(&paths.lock) {
        pauses.pause().await;
    }
}

fn is_locked(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
}
