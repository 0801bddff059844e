//! `loci ctl drain`: no new work for this daemon. What it has in flight it answers, and then it ends.

use crate::client::Unreachable;
use crate::client::admin;
use crate::client::admin::NotDone;
use crate::output::{Problem, say};
use loci_proto::paths::Paths;

/// Tells the daemon, and does not wait for its end.
///
/// # Errors
/// A daemon that does not answer.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    match admin::post(paths, "/stop").await {
        Ok(_) => say("locid ends after the calls that are running"),
        Err(NotDone::Unreachable(Unreachable::Absent)) => say("locid is not running"),
        Err(reason) => Err(reason.into()),
    }
}
