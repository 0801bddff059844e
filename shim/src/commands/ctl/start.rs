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
/// Why the daemon does not start or answer.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    remove_hold(paths)?;
    let mut latest = Unreachable::Absent;
    match timeout(ConnectTimeouts::default().total, until_ready(paths, &mut latest)).await {
        Ok(answered) => {
            let Status { version, pid, .. } = answered?;
            print_line(format!("locid {version} is running (pid {pid})"))
        }
        Err(_) => Err(latest.into()),
    }
}

fn remove_hold(paths: &Paths) -> Result<(), Problem> {
    match std::fs::remove_file(&paths.hold) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn until_ready(paths: &Paths, latest: &mut Unreachable) -> Result<Status, Problem> {
    let mut backoff = Backoff::default();
    loop {
        match status::fetch(paths).await {
            Err(RequestError::Unreachable(Unreachable::Absent)) => {}
            Ok(status) if status.degraded.iter().any(|part| part == "store") => {
                // It answers, but its database is not open yet.
                backoff.wait().await;
                continue;
            }
            answer => return Ok(answer?),
        }
        match Launch::default().start(paths, latest).await {
            // The session socket accepts connections; the admin socket follows at once.
            Ok(_) => {}
            Err(ConnectError::Permanent(reason)) => return Err(reason.into()),
            Err(ConnectError::Transient(reason)) => *latest = reason,
        }
        backoff.wait().await;
    }
}
