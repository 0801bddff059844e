//! Refuses to an agent or a script what only a person may do, by the table of verbs.
//!
//! Not here: who is a person (the shim, `interface::agents::session`), what a person stored or confirmed, which the engine protects.

use crate::interface::agents::session::Session;
use loci_proto::error::Failure;
use loci_proto::memory::Origin;
use loci_proto::requests::Request;
use loci_proto::requests::verbs::Callers;

/// Refuses a request that is for a person.
///
/// # Errors
/// `conflict`, with the command for the person.
pub(super) fn check(session: &Session, request: &Request) -> Result<(), Failure> {
    let powers = request.powers();
    let is_for_person = powers.callers == Callers::Person || changes_every_project(request);
    if !is_for_person || session.actor().origin == Origin::Person {
        return Ok(());
    }
    let purpose = powers.purpose.trim_end_matches('.');
    let (first, rest) = purpose.split_at(1);
    let message = format!("{}{rest}, which only a person may do", first.to_lowercase());
    Err(Failure::only_person(message, powers.command))
}

/// Returns whether a verb that agents and scripts may call is asked for what concerns more than is theirs.
fn changes_every_project(request: &Request) -> bool {
    match request {
        Request::Scan(scan) => scan.redact,
        Request::Cleanup(cleanup) => !cleanup.dry_run,
        Request::Incognito(incognito) => incognito.off,
        _ => false,
    }
}
