//! `forget`: hides a memory, which can be restored. With `hard_delete`: deletes every copy of it
//! permanently.

use crate::db::log::{DeletedFrom, Operation};
use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::db::rows::Row;
use crate::db::{click_feedback, idempotency, journal, log, relations, repair, tombstones};
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::actor::Actor;
use crate::model::candidate::{candidate_reason, is_unconfirmed};
use crate::model::content;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::{Audience, Visibility};
use crate::operations::bridge;
use crate::operations::named_project::other_group;
use crate::operations::reject;
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::{FindVisible, check_may_change};
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::Failure;
use loci_proto::memory::{MemoryId, Origin, Trust};
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::forget_many::{ForgetManyReply, ForgetManyRequest};
use loci_proto::sanitize;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::Ordering;

write_verb!(ForgetManyRequest, Writer::forget_many, Smaller);

/// Note of a hard delete that a reader kept from emptying the write-ahead log.
const LOG_NOT_EMPTIED: &str = "The text is still in the write-ahead log until a running export or other reader ends; it is then removed without a further call";

impl Writer {
    /// Forgets one memory. If it is already forgotten, changes nothing and says so in the reply.
    ///
    /// # Errors
    /// `not_found`, `invalid` for the reason, `Database`.
    pub fn forget(&mut self, call: &CallContext, request: &ForgetRequest) -> Result<ForgetReply> {
        let reply = self.run_idempotent(call, |change| {
            content::check_reason(request.reason.as_deref())?;
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let id = &request.memory_id;
            let memory = match visibility.find_even_if_damaged(change.conn, "memory_id", id) {
                Ok(memory) => memory,
                Err(error) => return deleted(change, &visibility, id)?.ok_or(error),
            };
            visibility.check_change("memory_id", &memory)?;
            check_forget(change, "memory_id", &memory, request)?;
            let group = other_group(change, memory.group.as_deref())?;
            if request.hard_delete {
                return Ok(ForgetReply { group, ..erase(change, &memory)? });
            }
            if request.rejected {
                let reply = reject::reject(change, &memory, request.reason.as_deref())?;
                let act = change.commit_to_journal("reject")?;
                return Ok(ForgetReply { act, group, ..reply });
            }
            let hidden = hide(change, &memory, request.reason.as_deref())?;
            Ok(ForgetReply { act: change.commit_to_journal("forget")?, group, ..hidden })
        })?;
        if !request.hard_delete {
            return Ok(reply);
        }
        self.scrub()?;
        if !self.shared.erase_pending.load(Ordering::Relaxed) {
            return Ok(reply);
        }
        let notes: Vec<String> =
            reply.note.into_iter().chain([LOG_NOT_EMPTIED.to_owned()]).collect();
        Ok(ForgetReply { note: Some(notes.join(". ")), ..reply })
    }

    /// Forgets several memories as one act: all or none.
    ///
    /// # Errors
    /// As [`Writer::forget`].
    pub fn forget_many(
        &mut self,
        call: &CallContext,
        request: &ForgetManyRequest,
    ) -> Result<ForgetManyReply> {
        self.run_idempotent(call, |change| {
            content::check_reason(request.reason.as_deref())?;
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let mut forgotten = Vec::with_capacity(request.memory_ids.len());
            for id in &request.memory_ids {
                forgotten.push(
                    match visibility.find_even_if_damaged(change.conn, "memory_ids", id) {
                        Ok(memory) => {
                            visibility.check_change("memory_ids", &memory)?;
                            if memory.status != Status::Forgotten {
                                check_may_change(change, "memory_ids", &memory, "forget")?;
                            }
                            hide(change, &memory, request.reason.as_deref())?
                        }
                        Err(error) => deleted(change, &visibility, id)?.ok_or(error)?,
                    },
                );
            }
            Ok(ForgetManyReply { forgotten, act: change.commit_to_journal("forget")? })
        })
    }
}

/// Refuses to an agent or a script what would undo a person, and to delete permanently what another session stored.
fn check_forget(
    change: &Change<'_>,
    field: &str,
    memory: &Memory,
    request: &ForgetRequest,
) -> Result<()> {
    let verb = if request.rejected { "reject" } else { "forget" };
    if !request.hard_delete {
        let is_done = memory.status == Status::Forgotten && !request.rejected;
        return if is_done { Ok(()) } else { check_may_change(change, field, memory, verb) };
    }
    let Actor { origin, session, .. } = &change.call.actor;
    let is_own = session.is_some() && memory.provenance.session == *session;
    let id = memory.id.as_str();
    let is_decided = *origin != Origin::Person
        && (log::is_status_of_person(change.conn, id)?
            || log::is_changed_by_person(change.conn, id)?);
    let may_own = is_own && memory.provenance.trust < Trust::Person && !is_decided;
    if *origin == Origin::Person || may_own {
        return Ok(());
    }
    let whose = match memory.provenance.trust {
        Trust::Person => "a person stored or confirmed",
        _ if is_decided => "a person has decided about",
        _ => "another session stored",
    };
    let message =
        format!("names a memory that {whose}, and this cannot be taken back: {}", memory.id);
    let command = format!("loci forget {} --hard", memory.id);
    Err(Failure::only_person(message, &command).at(field).into())
}

/// Returns the reply for a memory that was deleted permanently, if the call could have seen it. For
/// others such an id is as unknown as any.
fn deleted(
    change: &Change<'_>,
    visibility: &Visibility,
    id: &MemoryId,
) -> Result<Option<ForgetReply>> {
    if !tombstones::has(change.conn, id)? {
        return Ok(None);
    }
    let Some(DeletedFrom { scope, group }) = log::deleted_from(change.conn, id.as_str())? else {
        return Ok(None);
    };
    let redirects = change.shared.group_redirects.read();
    let group = redirects.get(&group).map_or(group.as_str(), |merged_into| &merged_into.id);
    let is_visible = visibility.admits(Audience::new(scope, Some(group)));
    Ok(is_visible.then(|| reply(id.clone(), "deleted", true)))
}

fn reply(id: MemoryId, status: &str, was_forgotten: bool) -> ForgetReply {
    ForgetReply {
        id,
        status: status.to_owned(),
        already_forgotten: was_forgotten,
        group: None,
        act: None,
        note: None,
    }
}

/// Hides a memory and its relations; nothing is deleted.
pub(crate) fn hide(
    change: &mut Change<'_>,
    memory: &Memory,
    reason: Option<&str>,
) -> Result<ForgetReply> {
    let was_forgotten = memory.status == Status::Forgotten;
    let reason = reason.map(sanitize::text);
    let reason = if is_unconfirmed(memory) {
        Some(candidate_reason(reason.as_deref()).into())
    } else {
        reason
    };
    let reason = reason.as_deref();
    if !was_forgotten {
        change.record_before(Row::Memory(memory.seq))?;
        let forgotten =
            StatusChange { status: Status::Forgotten, by: memory.superseded_by.as_deref(), reason };
        memories::set_status(change.conn, memory.seq, forgotten, change.call.now)?;
        change.log(
            Operation::Forget,
            &memory.id,
            &json!({"reason": reason, "was": memory.status.as_str()}),
        )?;
        change.touch(memory.seq);
    }
    Ok(reply(memory.id.clone(), "forgotten", was_forgotten))
}

impl Writer {
    /// Deletes memories that were hard-deleted before and came back with an older copy of the store;
    /// returns how many. The ids of the others are recorded, so that no import brings them.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub(crate) fn erase_again(&mut self, ids: &HashSet<MemoryId>, now: Timestamp) -> Result<usize> {
        let call = CallContext { now, actor: maintain::actor(""), key: None, shown: None };
        let erased = self.run_idempotent(&call, |change| {
            let mut erased = 0;
            for id in ids {
                match memories::by_id(change.conn, id)? {
                    Some(memory) => {
                        erase(change, &memory)?;
                        erased += 1;
                    }
                    None => tombstones::insert(change.conn, id, now)?,
                }
            }
            Ok(erased)
        })?;
        failpoint!("after memories were erased again");
        self.scrub()?;
        Ok(erased)
    }
}

/// Deletes every copy of a memory: the row with its terms, vectors, variants, relations and
/// mentions; images in the journal; stored replies; click feedback; details of its log lines, and of
/// those of its relations at other memories. Only the log line of the deletion and a tombstone
/// remain, which prevents an import from restoring the memory.
pub(crate) fn erase(change: &mut Change<'_>, memory: &Memory) -> Result<ForgetReply> {
    let id = memory.id.as_str();
    let older = memories::replaced_by(change.conn, &memory.id)?;
    let derived = crate::maintain::remove_quotes_of(change, memory)?;
    // The memories that this summary replaced become active again.
    for source in memories::sources(change.conn, memory.seq)? {
        if source.status == Status::Compacted && source.superseded_by.as_deref() == Some(id) {
            change.record_before(Row::Memory(source.seq))?;
            memories::set_status(change.conn, source.seq, StatusChange::ACTIVE, change.call.now)?;
            change.log(Operation::Restore, &source.id, &json!({"was": source.status.as_str()}))?;
            change.touch(source.seq);
        }
    }
    change.commit_to_journal(journal::ERASE)?;
    let mut relation_ids: Vec<String> = relations::rows_of(change.conn, memory.seq, id)?
        .into_iter()
        .filter_map(relation_id)
        .collect();
    // Also relations that were undone since.
    for (relation, other) in log::relations_of(change.conn, id)? {
        log::redact_relation(change.conn, &other, &relation)?;
        relation_ids.push(relation);
    }
    let mut texts = journal::redact(change.conn, memory.seq, &relation_ids)?;
    texts.extend(memories::variants(change.conn, memory.seq)?);
    idempotency::redact(change.conn, id)?;
    log::redact(change.conn, id)?;
    click_feedback::redact(change.conn, memory.seq)?;
    bridge::erase(change, memory, &texts)?;
    if memories::by_seq(change.conn, memory.seq)?.is_some() {
        memories::delete(change.conn, memory.seq)?;
    } else {
        repair::delete(change.conn, memory.seq)?;
    }
    failpoint!("after the deletion of a memory");
    tombstones::insert(change.conn, &memory.id, change.call.now)?;
    change.touched.erased.push(memory.id.clone());
    // Tells a later call whether it could have seen the memory.
    let from = json!({"hard": true, "scope": memory.scope, "group": memory.group});
    change.log(Operation::Delete, &memory.id, &from)?;
    change.touch(memory.seq);
    Ok(ForgetReply { note: note(&derived, &older), ..reply(memory.id.clone(), "deleted", false) })
}

/// Returns a note that names the memories that may contain the text of the deleted one: made from it, or replaced by it.
fn note(derived: &[MemoryId], older: &[Memory]) -> Option<String> {
    let is_older =
        |memory: &&Memory| memory.status == Status::Superseded && !derived.contains(&memory.id);
    let older = older.iter().filter(is_older).map(|memory| &memory.id);
    let ids: Vec<&str> = derived.iter().chain(older).map(MemoryId::as_str).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "These memories were made from it or replaced by it, and may still contain its text; forget them too: {}",
            ids.join(", ")
        )
    })
}

fn relation_id(row: Row) -> Option<String> {
    match row {
        Row::Relation(id) => Some(id),
        _ => None,
    }
}
