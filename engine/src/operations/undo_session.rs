//! `undo` of a session: takes back everything that one session did, as one act that can be undone.
//!
//! Its acts are undone newest first, then the memories that it stored are removed. What others built
//! on is kept and reported. Not here: undoing one act (`undo`).

use crate::db::journal;
use crate::db::log::{self, Operation};
use crate::db::rows::Row;
use crate::db::{connection, memories, relations, sessions};
use crate::error::{Error, Result};
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::operations::undo_act::{check_act, record_act, restore_act, to_reply};
use crate::operations::undo_later::LaterActs;
use crate::search::budget;
use crate::transaction::change::Change;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{Origin, Trust};
use loci_proto::requests::history::StoredMemory;
use loci_proto::requests::undo::{SkippedUndo, UndoReply};
use rusqlite::Connection;
use serde_json::json;

/// Maximum sessions that an error names.
const MAX_NAMED: usize = 5;
/// Maximum memories of a session: all.
const ALL: usize = usize::MAX;

/// Takes back what a session did. A preview finds out what would happen and changes nothing.
pub(crate) fn undo_session(
    change: &mut Change<'_>,
    prefix: &str,
    preview: bool,
) -> Result<UndoReply> {
    let session = resolve_session(change.conn, prefix)?;
    if preview {
        connection::begin_trial(change.conn)?;
        let outcome = take_back(change, &session);
        connection::end_trial(change.conn)?;
        change.discard();
        let mut reply = outcome?;
        // Nothing is undone yet.
        reply.undone.iter_mut().for_each(|act| act.undone_at = None);
        return Ok(reply);
    }
    let mut reply = take_back(change, &session)?;
    reply.act = change.commit_to_journal(journal::UNDO_SESSION)?;
    Ok(reply)
}

/// Returns the one session with this id, or whose id begins so.
///
/// # Errors
/// `not_found`; `conflict` if several begin so.
pub(crate) fn resolve_session(conn: &Connection, prefix: &str) -> Result<String> {
    let mut found = sessions::beginning_with(conn, prefix, MAX_NAMED + 1)?;
    if let Some(exact) = found.iter().position(|session| session == prefix) {
        return Ok(found.swap_remove(exact));
    }
    match found.len() {
        0 => Err(Failure::new(Code::NotFound, format!("{prefix} is the beginning of no id"))
            .at("session")
            .hint("loci inspect ID and loci history --json show the sessions")
            .into()),
        1 => Ok(found.swap_remove(0)),
        _ => {
            found.truncate(MAX_NAMED);
            let message = format!("{prefix} is the beginning of several ids: {}", found.join(", "));
            let failure = Failure::new(Code::Conflict, message).at("session");
            Err(failure.hint("Give more characters of the id").into())
        }
    }
}

fn take_back(change: &mut Change<'_>, session: &str) -> Result<UndoReply> {
    let last_line = log::last_id(change.conn)?;
    let mut reply = UndoReply { session: Some(session.to_owned()), ..UndoReply::default() };
    for id in journal::open_of_session(change.conn, session)? {
        let Some(entry) = journal::by_id(change.conn, id)? else { continue };
        // What others confirmed is kept.
        let later = LaterActs::find(change.conn, &entry, &[])?.kept();
        match check_act(change, &entry, &later) {
            Ok(()) => {
                record_act(change, &entry)?;
                let undone = to_reply(change.conn, &entry, Some(change.call.now))?;
                restore_act(change, &entry)?;
                reply.undone.push(undone);
            }
            Err(Error::Refused(failure)) => {
                reply.skipped.push(SkippedUndo {
                    id: None,
                    act: Some(id),
                    reason: failure.message,
                });
            }
            Err(error) => return Err(error),
        }
    }
    for memory in memories::of_session(change.conn, session, ALL)? {
        match reason_to_keep(change, &memory, session, last_line)? {
            Some(reason) => {
                reply.skipped.push(SkippedUndo { id: Some(memory.id), act: None, reason });
            }
            None => reply.removed.push(remove(change, &memory)?),
        }
    }
    for id in log::hard_deleted_by(change.conn, session)? {
        let reason = "it was deleted permanently; only a backup has it".to_owned();
        reply.skipped.push(SkippedUndo { id: Some(id), act: None, reason });
    }
    Ok(reply)
}

/// Returns why a memory that the session stored is kept: others built on it.
fn reason_to_keep(
    change: &Change<'_>,
    memory: &Memory,
    session: &str,
    last_line: i64,
) -> Result<Option<String>> {
    if change.call.actor.origin != Origin::Person && memory.provenance.trust == Trust::Person {
        return Ok(Some("a person stored or confirmed it".to_owned()));
    }
    let conn = change.conn;
    if let Some(operation) = log::used_by_others(conn, memory.id.as_str(), session, last_line)? {
        return Ok(Some(format!("others built on it later: {operation}")));
    }
    if let Some(old) = memories::replaced_by(conn, &memory.id)?.first() {
        return Ok(Some(format!("it replaces a memory that was changed later: {}", old.id)));
    }
    if !relations::rows_of(conn, memory.seq, memory.id.as_str())?.is_empty() {
        return Ok(Some("relations or derived memories of others refer to it".to_owned()));
    }
    Ok(None)
}

fn remove(change: &mut Change<'_>, memory: &Memory) -> Result<StoredMemory> {
    change.record_before(Row::Memory(memory.seq))?;
    change.log(Operation::Delete, &memory.id, &json!({"undone": true}))?;
    memories::delete(change.conn, memory.seq)?;
    change.touch(memory.seq);
    Ok(to_stored(memory))
}

/// Returns a memory as a line of what a session stored.
pub(crate) fn to_stored(memory: &Memory) -> StoredMemory {
    StoredMemory {
        id: memory.id.clone(),
        kind: memory.kind,
        status: memory.status.as_str().to_owned(),
        at: Timestamp::iso(memory.created_at),
        preview: budget::preview_for_person(&memory.content),
    }
}
