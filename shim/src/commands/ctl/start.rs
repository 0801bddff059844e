//! `loci ctl start`: a daemon that answers, whether it ran before or not.

use crate::client::admin::NotDone;
use crate::client::{Failed, Patience, Pauses, Unreachable};
use crate::commands::ctl::status;
use crate::output::{Problem, say};
use crate::spawn::Launch;
use loci_proto::admin::Status;
use loci_proto::paths::Paths;
use tokio::time::timeout;

/// Starts the daemon, unless it runs, and waits until it answers.
///
/// # Errors
/// Why it does not.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    end_hold(paths)?;
    let mut latest = Unreachable::Absent;
    match timeout(Patience::default().reach, until_it_answers(paths, &mut latest)).await {
        Ok(answered) => {
            let Status { version, pid, .. } = answered?;
            say(format!("locid {version} is running (pid {pid})"))
        }
        Err(_) => Err(latest.into()),
    }
}

fn end_hold(paths: &Paths) -> Result<(), Problem> {
    match std::fs::remove_file(&paths.hold) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn until_it_answers(paths: &Paths, latest: &mut Unreachable) -> Result<Status, Problem> {
    let mut pauses = Pauses::default();
    loop {
        match status::ask(paths).await {
            Err(NotDone::Unreachable(Unreachable::Absent)) => {}
            Ok(status) if status.degraded.iter().any(|part| part == "store") => {
                // It answers, but its memories are not there yet.
                pauses.pause().await;
                continue;
            }
            answer => return Ok(answer?),
        }
        match Launch::default().start(paths, latest).await {
            // It takes connections; its admin socket follows at once.
            Ok(_) => {}
            Err(Failed::ForGood(reason)) => return Err(reason.into()),
            Err(Failed::ForNow(reason)) => *latest = reason,
        }
        pauses.pause().await;
    }
}
