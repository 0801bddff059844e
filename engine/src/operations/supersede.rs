//! `supersede`: a person marks a memory as replaced by another one that is stored already.
//!
//! Not here: a new memory that replaces an old one (`store`).

use crate::db::log::Operation;
use crate::db::memories;
use crate::db::rows::Row;
use crate::db::tombstones;
use crate::error::{Error, Result};
use crate::flags::Flags;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use loci_proto::requests::supersede::{SupersedeReply, SupersedeRequest};
use serde_json::json;

write_verb!(SupersedeRequest, Writer::supersede, Complete);

/// The names of the fields of a call with the ids of both memories.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub old: &'static str,
    pub new: &'static str,
}

/// What replaces what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    /// Id of the memory that is out of date.
    pub old: &'a MemoryId,
    pub new: &'a Memory,
    pub fields: Fields,
}

impl Writer {
    /// Marks a memory as replaced by another one.
    ///
    /// # Errors
    /// `not_found`; `invalid` if both are the same; `conflict` if one of them is not active, or the
    /// new one is not seen by all who see the old one or is trusted less; `Database`.
    pub fn supersede(
        &mut self,
        call: &CallContext,
        request: &SupersedeRequest,
    ) -> Result<SupersedeReply> {
        self.run_idempotent(call, |change| {
            let named = request.group.as_ref();
            let viewer = (&call.actor).into();
            let visibility = Visibility::new(change.shared, change.conn, viewer, named)?;
            let fields = Fields { old: "old", new: "new" };
            let new = find(change, &visibility, fields.new, &request.new)?;
            let replacement = Replacement { old: &request.old, new: &new, fields };
            let old = supersede(change, &visibility, replacement)?;
            let act = change.commit_to_journal("supersede")?;
            Ok(SupersedeReply { superseded: old.id, by: new.id, act })
        })
    }
}

/// Marks the memory with an id as replaced by `new`, and returns it as it was.
///
/// # Errors
/// As [`Writer::supersede`].
pub(crate) fn supersede(
    change: &mut Change<'_>,
    visibility: &Visibility,
    Replacement { old, new, fields }: Replacement<'_>,
) -> Result<Memory> {
    if *old == new.id {
        let failure = Failure::invalid(fields.old, "is the replacing memory itself");
        return Err(failure.hint("Give the ids of two memories").into());
    }
    let old = find(change, visibility, fields.old, old)?;
    visibility.check_change(fields.old, &old)?;
    check_active(fields.old, &old)?;
    if new.superseded_by.as_deref() == Some(old.id.as_str()) {
        let message = format!("was itself replaced by {}; that would be a cycle", old.id);
        return Err(conflict(fields.new, message, "Give the ids in the other order"));
    }
    check_active(fields.new, new)?;
    check_audience(change, fields, &old, new)?;
    let caller = Provenance::of(&change.call.actor, Flags::default());
    if !caller.may_supersede(&old.provenance) {
        let message = format!("names a memory that is trusted more than the caller: {}", old.id);
        let command = format!("loci supersede {} {}", old.id, new.id);
        return Err(Failure::only_person(message, &command).at(fields.old).into());
    }
    change.record_before(Row::Memory(old.seq))?;
    memories::supersede(change.conn, old.seq, &new.id, change.call.now)?;
    change.log(Operation::Supersede, &old.id, &json!({"by": new.id}))?;
    change.touch(old.seq);
    Ok(old)
}

/// Finds a memory; the error of one that was deleted permanently says so.
fn find(
    change: &Change<'_>,
    visibility: &Visibility,
    field: &str,
    id: &MemoryId,
) -> Result<Memory> {
    match visibility.find(change.conn, field, id) {
        Err(_) if tombstones::has(change.conn, id)? => {
            let message = format!("names a memory that was deleted permanently: {id}");
            let failure = Failure::new(Code::NotFound, message).at(field);
            Err(failure.hint("Run loci list to see memories").into())
        }
        found => found,
    }
}

fn check_active(field: &str, memory: &Memory) -> Result<()> {
    let id = &memory.id;
    match (memory.status, &memory.superseded_by) {
        (Status::Active, _) => Ok(()),
        (Status::Superseded, Some(by)) => Err(conflict(
            field,
            format!("names a memory that is already superseded by {by}: {id}"),
            "Name that one, or run loci restore first",
        )),
        (status, _) => Err(conflict(
            field,
            format!("names a memory that is {}: {id}", status.as_str()),
            "Run loci restore first",
        )),
    }
}

/// Refuses a replacement that not everybody sees who sees the old memory.
fn check_audience(change: &Change<'_>, fields: Fields, old: &Memory, new: &Memory) -> Result<()> {
    let group = new.group.as_deref().unwrap_or_default();
    let hides_text = new.group != old.group && change.shared.isolation().is_isolated(group);
    if new.audience().includes(old.audience()) && !hides_text {
        return Ok(());
    }
    let message = format!("is not visible wherever the old memory is: {}", new.id);
    Err(conflict(fields.new, message, "Run loci edit ID --scope global first"))
}

fn conflict(field: &str, message: String, hint: &str) -> Error {
    Failure::new(Code::Conflict, message).at(field).hint(hint).into()
}
