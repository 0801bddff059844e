//! `loci ctl stop`: stops the daemon and waits until it has exited.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::socket::pid_in;
use crate::client::unreachable::Unreachable;
use crate::output::{Problem, print_line};
use crate::spawn::folders;
use loci_proto::paths::Paths;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for the exit: the daemon finishes running calls, then closes its database.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Stops the daemon and prints the result; with `hold` nothing starts it again until `loci ctl start`.
///
/// # Errors
/// The daemon does not answer or does not exit.
pub async fn run(paths: &Paths, hold: bool) -> Result<(), Problem> {
    if hold {
        folders::create(&paths.home)?;
        folders::private_file().open(&paths.hold).map_err(|error| {
            Problem::new(format!("Cannot create {}", paths.hold.display()))
                .because(&error)
                .hint("If it is a symbolic link, remove it")
        })?;
    }
    let hold_text = if hold { " and will not start until loci ctl start" } else { "" };
    print_line(match stop(paths).await? {
        StopOutcome::NotRunning => format!("locid is not running{hold_text}"),
        StopOutcome::Exited => format!("locid has stopped{hold_text}"),
        StopOutcome::Restarted => {
            "locid has stopped, but an agent's call has started it again; use --hold to prevent that"
                .to_owned()
        }
    })
}

/// The result of stopping the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// No daemon ran.
    NotRunning,
    /// The daemon has exited.
    Exited,
    /// The daemon has exited, and a new one already runs.
    Restarted,
}

/// Stops the daemon and waits until it has exited.
///
/// # Errors
/// The daemon does not answer or does not exit.
pub async fn stop(paths: &Paths) -> Result<StopOutcome, Problem> {
    let old_pid = pid_in(&paths.lock);
    match admin::post(paths, "/stop").await {
        // One that is going already, by itself or because of another command, does what was asked for; it may close the connection.
        Ok(_) | Err(RequestError::Unreachable(Unreachable::Draining)) => {}
        Err(RequestError::Unreachable(Unreachable::Absent)) => return Ok(StopOutcome::NotRunning),
        Err(RequestError::Unreachable(Unreachable::Broken(_)))
            if is_locked(&paths.lock) || has_ended(old_pid) => {}
        Err(reason) => return Err(reason.into()),
    }
    timeout(STOP_TIMEOUT, wait_until_exited(paths, old_pid)).await.map_err(|_| {
        Problem::new("locid did not stop within 10 seconds")
            .hint("`loci ctl logs` shows what it is doing")
    })
}

async fn wait_until_exited(paths: &Paths, old_pid: Option<u32>) -> StopOutcome {
    let mut backoff = Backoff::default();
    // Test the lock only after the socket or the process is gone: the test takes the lock for a moment, and a daemon could not start then.
    // A socket of systemd stays.
    while paths.socket.exists() && !has_ended(old_pid) || is_locked(&paths.lock) {
        if pid_in(&paths.lock).is_some_and(|pid| old_pid.is_some_and(|old| old != pid)) {
            return StopOutcome::Restarted;
        }
        backoff.wait().await;
    }
    StopOutcome::Exited
}

/// Returns true if the process is known and does not exist.
fn has_ended(pid: Option<u32>) -> bool {
    let pid = pid.and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
    pid.is_some_and(|pid| kill(pid, None) == Err(Errno::ESRCH))
}

fn is_locked(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
}
