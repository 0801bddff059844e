//! `undo` and `history`: undoes acts, newest first or a single one, unless a later change depends
//! on them.
//!
//! Not here: undoing one act (`undo_act`), or everything that a session did (`undo_session`).

use crate::db::journal;
use crate::db::journal::Entry;
use crate::db::rows::Row;
use crate::db::{connection, health, memories};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::operations::inspect::to_preview;
use crate::operations::undo_act::{check_act, record_act, restore_act, to_reply};
use crate::operations::undo_later::LaterActs;
use crate::operations::undo_session::{resolve_session, to_stored, undo_session};
use crate::operations::variants;
use crate::operations::verbs::{read_verb, write_verb};
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::history::{HistoryReply, HistoryRequest};
use loci_proto::requests::relate::MemoryPreview;
use loci_proto::requests::undo::{UndoReply, UndoRequest, UndoTarget};

read_verb!(HistoryRequest, |reader, request, _call| reader.history(request));
write_verb!(UndoRequest, Writer::undo, MissingVectors);

/// An undo of more rows cannot be taken back: their images would fill the journal.
pub(crate) const MAX_REDO_ROWS: usize = 10_000;
/// Default number of acts on one page of the history.
const PAGE_SIZE: usize = 20;
/// Maximum memories of a session in its history.
const MAX_STORED: usize = 1000;

impl Writer {
    /// Undoes acts: one by number, the newest, or all since a time; if one cannot be undone, none
    /// is. Or everything that a session did, except what others built on.
    ///
    /// # Errors
    /// `not_found` if there is no such act, `conflict` if it was already undone or a later change
    /// depends on it, `Database`.
    pub fn undo(&mut self, call: &CallContext, request: &UndoRequest) -> Result<UndoReply> {
        self.run_idempotent(call, |change| {
            connection::defer_foreign_keys(change.conn)?;
            if let UndoTarget::Session(prefix) = request.target()? {
                return undo_session(change, &prefix, request.preview);
            }
            let acts = selected_acts(change, request)?;
            let (mut reply, mut rows) = (UndoReply::default(), 0);
            for id in &acts {
                let entry = journal::by_id(change.conn, *id)?.filter(|act| !act.is_record());
                let entry = entry.ok_or_else(|| no_such_act(*id))?;
                let later = LaterActs::find(change.conn, &entry, &acts)?;
                add_later(&mut reply, change, &later)?;
                if request.preview {
                    reply.undone.push(to_reply(change.conn, &entry, entry.undone_at)?);
                    continue;
                }
                require_consent(&entry, &later, &request.with)?;
                let mut undo_one = |change: &mut Change<'_>, act: &Entry, later: &LaterActs| {
                    check_act(change, act, later)?;
                    rows += act.rows.len();
                    if rows <= MAX_REDO_ROWS {
                        record_act(change, act)?;
                    }
                    let merged = merged_wordings(change, act)?;
                    restore_act(change, act)?;
                    store_wordings(change, merged)
                };
                let undone = to_reply(change.conn, &entry, Some(change.call.now))?;
                for act in &later.whole {
                    undo_one(change, act, &LaterActs::default())?;
                }
                reply.stored.extend(undo_one(change, &entry, &later)?);
                reply.undone.push(undone);
                failpoint!("after an undone act");
            }
            if rows > MAX_REDO_ROWS {
                change.discard_images();
                health::begin_history(change.conn, change.call.now)?;
            }
            change.commit_to_journal(journal::UNDO)?;
            Ok(reply)
        })
    }
}

impl Reader {
    /// Returns acts, newest first, a page at a time.
    ///
    /// # Errors
    /// `Database`.
    pub fn history(&self, request: &HistoryRequest) -> Result<HistoryReply> {
        let limit = request.limit.unwrap_or(PAGE_SIZE).clamp(1, 1000);
        let seq = match &request.memory_id {
            Some(id) => memories::by_id(&self.conn, id)?.map(|memory| memory.seq).or(Some(-1)),
            None => None,
        };
        let session = match &request.session {
            Some(prefix) => Some(resolve_session(&self.conn, prefix)?),
            None => None,
        };
        let stored = match &session {
            Some(session) if request.before.is_none() => {
                memories::of_session(&self.conn, session, MAX_STORED)?
            }
            _ => Vec::new(),
        };
        let (mut acts, mut before) = (Vec::new(), request.before);
        loop {
            let page = match seq {
                Some(_) => journal::list_with_merges(&self.conn, before, limit)?,
                None => journal::list(&self.conn, session.as_deref(), before, limit)?,
            };
            before = page.last().map(|entry| entry.id);
            let is_full_page = page.len() == limit;
            acts.extend(
                page.into_iter().filter(|entry| seq.is_none_or(|seq| changes_memory(entry, seq))),
            );
            if !is_full_page || acts.len() >= limit {
                acts.truncate(limit);
                let next = is_full_page.then(|| acts.last().map(|entry| entry.id)).flatten();
                let reply = |entry: &Entry| to_reply(&self.conn, entry, entry.undone_at);
                return Ok(HistoryReply {
                    acts: acts.iter().map(reply).collect::<Result<_>>()?,
                    next,
                    stored: stored.iter().map(to_stored).collect(),
                });
            }
        }
    }
}

/// Returns the wordings that a merge added, each with its memory, which has the metadata of the merge.
fn merged_wordings(change: &Change<'_>, act: &Entry) -> Result<Vec<(Memory, String)>> {
    let mut merged = Vec::new();
    for changed in act.rows.iter().filter(|_| act.act == journal::MERGE) {
        if let Row::Variant(seq, wording) = &changed.row
            && let Some(memory) = memories::by_seq(change.conn, *seq)?
        {
            merged.push((memory, wording.clone()));
        }
    }
    Ok(merged)
}

/// Stores wordings, each as a memory of its own.
fn store_wordings(
    change: &mut Change<'_>,
    merged: Vec<(Memory, String)>,
) -> Result<Vec<MemoryPreview>> {
    let mut stored = Vec::new();
    for (memory, wording) in merged {
        let id = variants::store(change, &memory, &wording)?;
        stored.extend(memories::by_id(change.conn, &id)?.as_ref().map(to_preview));
    }
    Ok(stored)
}

fn changes_memory(entry: &Entry, seq: i64) -> bool {
    entry
        .rows
        .iter()
        .any(|changed| matches!(changed.row, Row::Memory(s) | Row::Variant(s, _) if s == seq))
}

fn selected_acts(change: &Change<'_>, request: &UndoRequest) -> Result<Vec<i64>> {
    Ok(match request.target()? {
        UndoTarget::One(id) => vec![id],
        UndoTarget::These(ids) => ids,
        UndoTarget::Last => vec![
            journal::last(change.conn)?
                .ok_or_else(|| Failure::new(Code::NotFound, "there is nothing to undo"))?,
        ],
        UndoTarget::Since(seconds) => {
            journal::open_since(change.conn, change.call.now.plus(-seconds.saturating_mul(1000)))?
        }
        UndoTarget::Session(_) => Vec::new(),
    })
}

/// Adds the later acts that are undone with an act, each once.
fn add_later(reply: &mut UndoReply, change: &Change<'_>, later: &LaterActs) -> Result<()> {
    let at = |act: &Entry| to_reply(change.conn, act, act.undone_at);
    for (acts, list) in [(&later.whole, &mut reply.also), (&later.in_part, &mut reply.in_part)] {
        for act in acts {
            if list.iter().all(|known| known.id != act.id) {
                list.push(at(act)?);
            }
        }
    }
    Ok(())
}

/// Refuses to take back later acts that the caller did not name.
fn require_consent(entry: &Entry, later: &LaterActs, with: &[i64]) -> Result<()> {
    let mut unnamed: Vec<i64> = later.ids().filter(|id| !with.contains(id)).collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    unnamed.sort_unstable();
    let ids: Vec<String> = unnamed.iter().map(ToString::to_string).collect();
    let message = format!(
        "act {} ({}) cannot be undone alone: later acts confirmed or reviewed its memories: {}",
        entry.id,
        entry.act,
        ids.join(", ")
    );
    let failure = Failure::new(Code::Conflict, message).at("with");
    Err(failure
        .hint("Name them in with to take them back too, as loci undo does after it asked")
        .into())
}

pub(crate) fn no_such_act(id: i64) -> Error {
    Failure::new(Code::NotFound, format!("{id} is not the number of an act"))
        .at("id")
        .hint("Run loci history for the acts that can be undone")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{TestStore, named};
    use loci_proto::requests::forget::ForgetRequest;
    use loci_proto::requests::list::{ListReply, ListRequest};
    use serde_json::json;

    fn listed(test_store: &TestStore) -> ListReply {
        test_store
            .reader
            .list(&ListRequest::default(), &named("a"), test_store.now)
            .expect("the memories are listed")
    }

    #[test]
    fn a_preview_changes_nothing_and_given_acts_are_undone_newest_first_all_or_none() {
        let mut test_store = TestStore::new();
        let call = test_store.call("a", None);
        let mut acts = Vec::new();
        for text in ["One", "Two"] {
            let memory_id =
                test_store.store("a", json!({"content": text, "type": "semantic"}), None).id;
            let request = ForgetRequest {
                memory_id,
                reason: None,
                hard_delete: false,
                rejected: false,
                group: None,
            };
            acts.push(
                test_store
                    .writer
                    .forget(&call, &request)
                    .expect("the memory is forgotten")
                    .act
                    .expect("the reply has the number of the act"),
            );
        }
        let preview =
            UndoRequest { since_seconds: Some(60), preview: true, ..UndoRequest::default() };
        let shown: Vec<i64> = test_store
            .writer
            .undo(&call, &preview)
            .expect("the preview is returned")
            .undone
            .iter()
            .map(|act| act.id)
            .collect();
        assert_eq!((shown, listed(&test_store).total), (vec![acts[1], acts[0]], 0));

        let with_unknown_act = UndoRequest { ids: vec![acts[0], 77], ..UndoRequest::default() };
        assert!(test_store.writer.undo(&call, &with_unknown_act).is_err());
        assert_eq!(listed(&test_store).total, 0, "no act is undone");
        let both = UndoRequest { ids: acts.clone(), ..UndoRequest::default() };
        let undone = test_store.writer.undo(&call, &both).expect("the acts are undone").undone;
        assert_eq!((undone[0].id, undone[1].id, listed(&test_store).total), (acts[1], acts[0], 2));
        assert!(UndoRequest { last: true, ids: acts, ..UndoRequest::default() }.target().is_err());
    }
}
