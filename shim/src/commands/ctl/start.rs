//! `loci ctl start`: starts the daemon unless it runs, and waits until it answers.

use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::connector::ConnectTimeouts;
use crate::client::unreachable::{ConnectError, Unreachable};
use crate::commands::ctl::status;
use crate::output::{Problem, print_line};
use crate::spawn::Launch;
use loci_proto::admin::Status;
use loci_proto::paths::Paths;
use tokio::time::timeout;

/// Ends a hold, starts the daemon unless it runs, and waits until it answers.
///
/// # Errors
/// The reason why the daemon does not start or answer.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    remove_hold(paths)?;
    let Status { version, pid, .. } = wait_until_open(paths).await?;
    print_line(format!("locid {version} is running (pid {pid})"))
}

/// Starts the daemon unless it runs, and waits until its store is open.
///
/// # Errors
/// The reason why the daemon does not start or answer.
pub async fn wait_until_open(paths: &Paths) -> Result<Status, Problem> {
    let mut latest_error = Unreachable::Absent;
    let started = start_and_wait(paths, &mut latest_error);
    match timeout(ConnectTimeouts::default().total, started).await {
        Ok(status) => status,
        Err(_) => Err(latest_error.into()),
    }
}

fn remove_hold(paths: &Paths) -> Result<(), Problem> {
    match std::fs::remove_file(&paths.hold) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn start_and_wait(paths: &Paths, latest_error: &mut Unreachable) -> Result<Status, Problem> {
    let mut backoff = Backoff::default();
    loop {
        match status::fetch(paths).await {
            Err(RequestError::Unreachable(Unreachable::Absent)) => {}
            Err(RequestError::Unreachable(
                reason @ (Unreachable::Broken(_) | Unreachable::Draining),
            )) => {
                // A daemon that is shutting down or was killed accepted the connection.
                *latest_error = reason;
                backoff.wait().await;
                continue;
            }
            Ok(status) if status.degraded.iter().any(|part| part == "store") => {
                // The daemon answers, but its database is not open yet. If it cannot be opened, the
                // daemon exits, and the next start says why.
                backoff.wait().await;
                continue;
            }
            answer => return Ok(answer?),
        }
        match Launch::default().start(paths, latest_error).await {
            // The session socket accepts connections; the admin socket will soon.
            Ok(_) => {}
            Err(ConnectError::Permanent(reason)) => return Err(reason.into()),
            Err(ConnectError::Transient(reason)) => *latest_error = reason,
        }
        backoff.wait().await;
    }
}
