//! `confirm`: a person confirms memories. Their trust becomes that of a person, and their flags are
//! cleared; the scope in force stays. A candidate becomes active, or rejected if it is an attempt that was given up.

use crate::db::log::Operation;
use crate::db::memories::StatusChange;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{memories, wishes};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::counted::counted;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{MemoryId, Origin, Trust};
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest, ConfirmTarget};
use loci_proto::requests::doctor::Finding;
use loci_proto::sanitize;
use serde_json::{Value, json};

write_verb!(ConfirmRequest, Writer::confirm, Complete);

/// Maximum memories that a preview names.
const MAX_SHOWN: usize = 20;

impl Writer {
    /// Confirms one memory, or all imported ones without flags.
    ///
    /// # Errors
    /// `conflict` if the caller is not a person; `not_found`; `invalid`; `Database`.
    pub fn confirm(
        &mut self,
        call: &CallContext,
        request: &ConfirmRequest,
    ) -> Result<ConfirmReply> {
        let target = request.target()?;
        if call.actor.origin != Origin::Person {
            let message = "only a person can confirm memories";
            return Err(Failure::only_person(message, "loci confirm").into());
        }
        self.run_idempotent(call, |change| {
            let (memories, id) = selected(change, request, target)?;
            let selection = request.imported.then(|| selection_of(&memories));
            if request.selection.is_some() && request.selection != selection {
                let message = "the imported memories have changed since they were shown";
                return Err(Failure::new(Code::Conflict, message)
                    .at("selection")
                    .hint("Look at them again")
                    .into());
            }
            if !request.preview {
                memories.iter().try_for_each(|memory| confirm(change, memory))?;
                // The scope in force decides which entities a text mentions.
                let seqs: Vec<i64> = memories.iter().map(|memory| memory.seq).collect();
                mentions::renew_all(change, &seqs, |_| false)?;
            }
            let act = change.commit_to_journal("confirm")?;
            let is_shown = request.preview && request.imported;
            let shown = memories.iter().take(if is_shown { MAX_SHOWN } else { 0 });
            let shown = shown.map(|memory| memory.id.clone()).collect();
            let selection = selection.filter(|_| is_shown);
            Ok(ConfirmReply { confirmed: memories.len(), id, selection, act, memories: shown })
        })
    }
}

impl Reader {
    /// Says how many memories wait for a person.
    ///
    /// # Errors
    /// `Database`.
    pub fn held_back(&self) -> Result<Finding> {
        let wished = wishes::open(&self.conn)?.len();
        if wished > 0 {
            let found = counted(wished, "memory waits", "memories wait");
            let found = format!("{found} for your decision on what an agent asked for");
            return Ok(Finding::warn("held", found, "Run loci review"));
        }
        let (flagged, imported) = memories::held_back(&self.conn)?;
        if flagged + imported == 0 {
            return Ok(Finding::ok("held", "no memory waits for you"));
        }
        let kinds = [(flagged, "flagged"), (imported, "imported and not flagged")];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let found: Vec<String> = kinds.map(|(count, what)| format!("{count} {what}")).collect();
        let found = format!("{}: in no brief and no hook", found.join(", "));
        Ok(Finding::warn("held", found, "Run loci list --held --all-groups, then loci confirm ID"))
    }
}

/// Returns the memories that the request selects and that are not confirmed yet.
fn selected(
    change: &Change<'_>,
    request: &ConfirmRequest,
    target: ConfirmTarget,
) -> Result<(Vec<Memory>, Option<MemoryId>)> {
    let ConfirmTarget::One(id) = target else {
        return Ok((memories::unconfirmed_imports(change.conn)?, None));
    };
    let visibility = Visibility::new(
        change.shared,
        change.conn,
        (&change.call.actor).into(),
        request.group.as_ref(),
    )?;
    let memory = visibility.find_to_change(change.conn, "memory_id", &id)?;
    let is_candidate = memory.status == Status::Candidate;
    if is_candidate && let Some(other) = memories::same_text(change.conn, &memory)?.first() {
        let message = format!("has the same text as an active memory: {}", other.id);
        let failure = Failure::new(Code::Conflict, message).at("memory_id");
        return Err(failure.hint("Forget the candidate").into());
    }
    let is_confirmed = !is_candidate
        && memory.provenance.trust == Trust::Person
        && memory.provenance.flags.is_empty();
    Ok((if is_confirmed { Vec::new() } else { vec![memory] }, Some(id)))
}

/// Returns what tells these memories with their texts from others.
fn selection_of(memories: &[Memory]) -> String {
    let mut hasher = blake3::Hasher::new();
    for memory in memories {
        hasher.update(memory.id.as_str().as_bytes());
        hasher.update(memory.version().as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn confirm(change: &mut Change<'_>, memory: &Memory) -> Result<()> {
    let row = Row::Memory(memory.seq);
    change.record_before(row.clone())?;
    let columns = Image::from_iter([
        ("trust".to_owned(), json!(Trust::Person)),
        ("flags".to_owned(), Value::Null),
        ("scope".to_owned(), json!(memory.scope)),
    ]);
    rows::update(change.conn, &row, &columns)?;
    if memory.status == Status::Candidate {
        let reason = given_up_because(memory);
        let status = match &reason {
            Some(_) => {
                StatusChange { status: Status::Rejected, by: None, reason: reason.as_deref() }
            }
            None => StatusChange::ACTIVE,
        };
        memories::set_status(change.conn, memory.seq, status, change.call.now)?;
    }
    change.touch(memory.seq);
    let details = json!({"confirmed": true, "trust": memory.provenance.trust, "flags": memory.provenance.flags.names()});
    change.log(Operation::Update, &memory.id, &details)
}

/// Returns why an attempt was given up, if the candidate is one: `rejected` of its metadata.
fn given_up_because(candidate: &Memory) -> Option<String> {
    let reason = candidate.metadata.get("rejected")?.as_str().map(sanitize::text)?;
    Some(reason.into_owned()).filter(|reason| !reason.trim().is_empty())
}
