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
    if session.actor().origin == Origin::Person {
        return Ok(());
    }
    let powers = request.powers();
    let of_verb = (powers.callers == Callers::Person).then_some(powers.command);
    let Some(command) = of_verb.or(command_for_every_project(request)) else { return Ok(()) };
    let purpose = powers.purpose.trim_end_matches('.');
    let (first, rest) = purpose.split_at(1);
    let message = format!("only a person may do this: it {}{rest}", first.to_lowercase());
    Err(Failure::only_person(message, command))
}

/// Returns the command for a person of a request that concerns more than is the caller's, of a verb that agents and scripts may call.
fn command_for_every_project(request: &Request) -> Option<&'static str> {
    match request {
        Request::Scan(scan) if scan.redact => Some("loci scan --redact"),
        Request::Incognito(incognito) if incognito.off => Some("loci ctl incognito --off"),
        _ => None,
    }
}
