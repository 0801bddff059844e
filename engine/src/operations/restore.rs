//! `restore`: makes a forgotten, superseded or compacted memory active again. A memory that
//! replaced it stays active.

use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::db::rows::Row;
use crate::error::Result;
use crate::handles::writer::Writer;
use crate::model::candidate::was_candidate;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::operations::named_project::other_group;
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::{FindVisible, check_may_change};
use crate::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};
use serde_json::json;

write_verb!(RestoreRequest, Writer::restore, MissingVectors);

impl Writer {
    /// Restores a memory. Does not change an active one; `was` in the reply is its previous status.
    ///
    /// # Errors
    /// `not_found`; `conflict` if an equal text is active; `Database`.
    pub fn restore(
        &mut self,
        call: &CallContext,
        request: &RestoreRequest,
    ) -> Result<RestoreReply> {
        self.run_idempotent(call, |change| {
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let memory = visibility.find_to_change(change.conn, "memory_id", &request.memory_id)?;
            let previous = memory.status;
            if previous != Status::Active {
                check_may_change(change, "memory_id", &memory, "restore")?;
            }
            if previous == Status::Candidate {
                let message = format!("names a candidate: {}", memory.id);
                return Err(Failure::new(Code::Conflict, message)
                    .at("memory_id")
                    .hint("A person can accept it with loci confirm")
                    .into());
            }
            let restored =
                if was_candidate(&memory) { StatusChange::CANDIDATE } else { StatusChange::ACTIVE };
            let mut act = None;
            if previous != Status::Active {
                let mut same = memories::same_text(change.conn, &memory)?;
                same.retain(|other| visibility.admits(other.audience()));
                if let Some(other) = same.first() {
                    let message = format!("has the same text as an active memory: {}", other.id);
                    return Err(Failure::new(Code::Conflict, message)
                        .at("memory_id")
                        .hint("Use that memory instead")
                        .into());
                }
                change.record_before(Row::Memory(memory.seq))?;
                memories::set_status(change.conn, memory.seq, restored, call.now)?;
                change.log(Operation::Restore, &memory.id, &json!({"was": previous.as_str()}))?;
                change.touch(memory.seq);
                act = change.commit_to_journal("restore")?;
            }
            Ok(RestoreReply {
                group: other_group(change, memory.group.as_deref())?,
                id: memory.id,
                status: restored.status.as_str().to_owned(),
                was: previous.as_str().to_owned(),
                act,
            })
        })
    }
}
