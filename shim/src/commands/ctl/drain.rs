//! `loci ctl drain`: the daemon accepts no new calls, answers those in flight, and exits.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::output::{Problem, print_line};
use loci_proto::paths::Paths;

/// Sends the request and does not wait for the exit.
///
/// # Errors
/// A daemon that does not answer.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    match admin::post(paths, "/stop").await {
        Ok(_) => print_line("locid will exit after the running calls"),
        Err(RequestError::Unreachable(Unreachable::Absent)) => print_line("locid is not running"),
        Err(reason) => Err(reason.into()),
    }
}
