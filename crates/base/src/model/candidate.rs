//! Which memories are candidates, or were before they were forgotten or rejected: the recorded reason says it.
//!
//! Not here: accepting a candidate (`operations::confirm`).

use crate::model::memory::Memory;
use crate::model::status::Status;

/// Why a candidate was forgotten or rejected.
const WAS_CANDIDATE: &str = "was a candidate";

/// Returns the reason that is recorded with a forgotten or rejected candidate, so that restoring it confirms nothing.
pub fn candidate_reason(given: Option<&str>) -> String {
    given.map_or_else(|| WAS_CANDIDATE.to_owned(), |given| format!("{WAS_CANDIDATE}: {given}"))
}

/// Returns the reason that was given, of one that is recorded.
pub fn given_reason(recorded: String) -> String {
    let given = recorded.strip_prefix(WAS_CANDIDATE).and_then(|rest| rest.strip_prefix(": "));
    given.map(str::to_owned).unwrap_or(recorded)
}

/// Returns whether a memory is a candidate, or was one before it was forgotten or rejected.
pub fn is_unconfirmed(memory: &Memory) -> bool {
    memory.status == Status::Candidate || was_candidate(memory)
}

/// Returns whether a forgotten or rejected memory was a candidate before.
pub fn was_candidate(memory: &Memory) -> bool {
    matches!(memory.status, Status::Forgotten | Status::Rejected)
        && is_of_candidate(memory.forgotten_reason.as_deref())
}

/// Returns whether this is the recorded reason of a forgotten or rejected candidate.
pub fn is_of_candidate(recorded: Option<&str>) -> bool {
    recorded.is_some_and(|reason| reason.starts_with(WAS_CANDIDATE))
}
