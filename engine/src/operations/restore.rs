//! `restore`: a forgotten, superseded or compacted memory is active again. What took its place stays.

use crate::Writer;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::{Standing, Status};
use crate::db::rows::Row;
use crate::error::Result;
use crate::model::visibility::Visibility;
use crate::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};
use serde_json::json;

impl Writer {
    /// Brings a memory back. One that is active already is left alone, and the answer says so (`was`).
    ///
    /// # Errors
    /// `not_found`; `conflict` when an equal text is active; `Database`.
    pub fn restore(
        &mut self,
        call: &CallContext,
        request: &RestoreRequest,
    ) -> Result<RestoreReply> {
        self.once(call, |change| {
            let sight = Visibility::new(change.conn, &call.actor.group, request.group.as_ref())?;
            let memory = sight.find(change.conn, "memory_id", &request.memory_id)?;
            let was = memory.status;
            let mut act = None;
            if was != Status::Active {
                if let Some(twin) = memories::twin(change.conn, &memory)? {
                    let message = format!("says what an active memory says: {twin}");
                    return Err(Failure::new(Code::Conflict, message)
                        .at("memory_id")
                        .hint("Nothing is lost; use that one")
                        .into());
                }
                change.keep(Row::Memory(memory.seq))?;
                memories::set_status(change.conn, memory.seq, Standing::ACTIVE, call.now)?;
                change.log(Operation::Restore, &memory.id, &json!({"was": was.as_str()}))?;
                change.touch(memory.seq);
                act = change.write_down("restore")?;
            }
            Ok(RestoreReply {
                id: memory.id,
                status: "active".to_owned(),
                was: was.as_str().to_owned(),
                act,
            })
        })
    }
}
