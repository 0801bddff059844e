//! `reject`: marks a memory as an attempt that was given up, and records why. Recalls show it with
//! the reason.

use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::db::rows::Row;
use crate::error::Result;
use crate::model::candidate::{candidate_reason, is_unconfirmed};
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::transaction::change::Change;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::Origin;
use loci_proto::requests::forget::ForgetReply;
use loci_proto::sanitize;
use serde_json::json;

/// Marks a memory as rejected, or changes the reason of one that is.
///
/// # Errors
/// `invalid` without a reason; `conflict` for a memory that is not active, and for a candidate unless
/// a person rejects it; `Database`.
pub(crate) fn reject(
    change: &mut Change<'_>,
    memory: &Memory,
    reason: Option<&str>,
) -> Result<ForgetReply> {
    let reason = reason.map(sanitize::text).filter(|reason| !reason.trim().is_empty());
    let Some(reason) = reason else {
        let failure = Failure::invalid("reason", "is missing");
        return Err(failure.hint("Say why the attempt was given up").into());
    };
    let is_person = change.call.actor.origin == Origin::Person;
    match memory.status {
        Status::Active | Status::Rejected => {}
        Status::Candidate if is_person => {}
        status => {
            let message = format!("names a memory that is {}", status.as_str());
            let failure = Failure::new(Code::Conflict, message).at("memory_id");
            return Err(failure.hint("Only an active memory can be rejected").into());
        }
    }
    change.record_before(Row::Memory(memory.seq))?;
    let recorded = is_unconfirmed(memory).then(|| candidate_reason(Some(&reason)));
    let recorded = recorded.as_deref().or(Some(&reason));
    let rejected = StatusChange { status: Status::Rejected, by: None, reason: recorded };
    memories::set_status(change.conn, memory.seq, rejected, change.call.now)?;
    let details = json!({"rejected": true, "reason": reason, "was": memory.status.as_str()});
    change.log(Operation::Update, &memory.id, &details)?;
    change.touch(memory.seq);
    Ok(ForgetReply {
        id: memory.id.clone(),
        status: Status::Rejected.as_str().to_owned(),
        already_forgotten: false,
        group: None,
        act: None,
        note: None,
    })
}
