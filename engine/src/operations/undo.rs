//! `undo` and `history`: undoes acts, newest first or a single one, unless a later change depends
//! on them.
//!
//! Keeps later accesses and boosts. Not here: recording the rows of an act (`transaction::change`).

use crate::db::journal;
use crate::db::journal::{Entry, RowChange, RowEffect};
use crate::db::log::Operation;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{connection, lexical, memories, relations, vectors};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::Timestamp;
use crate::transaction::change::{CallContext, Change, fingerprint, is_usage_column};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::history::{HistoryReply, HistoryRequest, JournalEntry};
use loci_proto::requests::undo::{UndoReply, UndoRequest, UndoTarget};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Default number of acts on one page of the history.
const PAGE_SIZE: usize = 20;

impl Writer {
    /// Undoes acts: one by number, the newest, or all since a time. If one cannot be undone, none
    /// is.
    ///
    /// # Errors
    /// `not_found` if there is no such act, `conflict` if it was already undone or a later change
    /// depends on it, `Database`.
    pub fn undo(&mut self, call: &CallContext, request: &UndoRequest) -> Result<UndoReply> {
        self.run_idempotent(call, |change| {
            connection::defer_foreign_keys(change.conn)?;
            let mut undone = Vec::new();
            for id in selected_acts(change, request)? {
                let entry = journal::by_id(change.conn, id)?.ok_or_else(|| no_such_act(id))?;
                if request.preview {
                    let at = entry.undone_at;
                    undone.push(to_reply(entry, at));
                    continue;
                }
                undo_act(change, &entry)?;
                failpoint!("after an undone act");
                undone.push(to_reply(entry, Some(change.call.now)));
            }
            Ok(UndoReply { undone })
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
        let (mut acts, mut before) = (Vec::new(), request.before);
        loop {
            let page = journal::list(&self.conn, before, limit)?;
            before = page.last().map(|entry| entry.id);
            let is_full_page = page.len() == limit;
            acts.extend(
                page.into_iter().filter(|entry| seq.is_none_or(|seq| changes_memory(entry, seq))),
            );
            if !is_full_page || acts.len() >= limit {
                acts.truncate(limit);
                let next = is_full_page.then(|| acts.last().map(|entry| entry.id)).flatten();
                return Ok(HistoryReply {
                    acts: acts
                        .into_iter()
                        .map(|entry| {
                            let at = entry.undone_at;
                            to_reply(entry, at)
                        })
                        .collect(),
                    next,
                });
            }
        }
    }
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
    })
}

fn no_such_act(id: i64) -> Error {
    Failure::new(Code::NotFound, format!("is not the number of an act: {id}"))
        .at("id")
        .hint("Run loci history for the acts that can be undone")
        .into()
}

fn conflict(entry: &Entry, reason: &str) -> Error {
    let message = format!("act {} ({}) cannot be undone: {reason}", entry.id, entry.act);
    Failure::new(Code::Conflict, message)
        .hint("Undo the later acts first; loci history lists them")
        .into()
}

fn undo_act(change: &mut Change<'_>, entry: &Entry) -> Result<()> {
    if entry.undone_at.is_some() {
        return Err(
            Failure::new(Code::Conflict, format!("act {} is already undone", entry.id)).into()
        );
    }
    let act_rows: HashSet<&Row> = entry.rows.iter().map(|changed| &changed.row).collect();
    entry.rows.iter().try_for_each(|changed| check_unchanged(change, entry, &act_rows, changed))?;
    let conn = change.conn;
    let changed_texts = entry.rows.iter().filter(|changed| changes_text(changed)).count();
    let mut restore_rows = || {
        entry.rows.iter().rev().try_for_each(|changed| {
            failpoint!("before a row is restored");
            restore_row(change, changed)
        })
    };
    if lexical::is_rebuild_cheaper(conn, changed_texts)? {
        lexical::with_rebuild(conn, restore_rows)?;
    } else {
        restore_rows()?;
    }
    journal::set_undone(conn, entry.id, change.call.now)
}

/// Returns true if the act added, removed or changed the text of a memory.
fn changes_text(changed: &RowChange) -> bool {
    let keeps_content =
        matches!(&changed.effect, RowEffect::Set { before, .. } if !before.contains_key("content"));
    matches!(changed.row, Row::Memory(_)) && !keeps_content
}

/// Refuses to undo an act if a row has changed since.
fn check_unchanged(
    change: &Change<'_>,
    entry: &Entry,
    act_rows: &HashSet<&Row>,
    changed: &RowChange,
) -> Result<()> {
    let current = rows::image(change.conn, &changed.row)?;
    match (&changed.effect, current) {
        (RowEffect::Inserted(_) | RowEffect::Set { .. }, None) => {
            Err(conflict(entry, "a row that it created or changed no longer exists"))
        }
        (RowEffect::Deleted(_), Some(_)) => {
            Err(conflict(entry, "a row that it deleted exists again"))
        }
        (RowEffect::Inserted(hash), Some(current)) if *hash != fingerprint(&current) => {
            Err(conflict(entry, "a row that it created was changed later"))
        }
        (RowEffect::Inserted(_), Some(current))
            if would_cascade(change, act_rows, &changed.row, &current)? =>
        {
            Err(conflict(entry, "a later change refers to a row that it created"))
        }
        (RowEffect::Deleted(_), None) | (RowEffect::Inserted(_), Some(_)) => Ok(()),
        (RowEffect::Set { after, .. }, Some(current)) => {
            let changed_later = after
                .iter()
                .find(|(name, value)| !is_usage_column(name) && current.get(*name) != Some(*value));
            changed_later.map_or(Ok(()), |(name, _)| {
                Err(conflict(entry, &format!("the {name} that it set was changed later")))
            })
        }
    }
}

/// Returns whether deleting the row would also delete relations, variants or sources that the act
/// did not create.
fn would_cascade(
    change: &Change<'_>,
    act_rows: &HashSet<&Row>,
    row: &Row,
    image: &Image,
) -> Result<bool> {
    let Row::Memory(seq) = row else { return Ok(false) };
    let id = image.get("id").and_then(Value::as_str).unwrap_or_default();
    let dependent = relations::rows_of(change.conn, *seq, id)?;
    Ok(dependent.iter().any(|row| !act_rows.contains(row)))
}

fn restore_row(change: &mut Change<'_>, changed: &RowChange) -> Result<()> {
    match &changed.effect {
        RowEffect::Inserted(_) => remove(change, &changed.row)?,
        RowEffect::Deleted(before) => rows::insert(change.conn, &changed.row, before)?,
        RowEffect::Set { before, after } => {
            let current = rows::image(change.conn, &changed.row)?.unwrap_or_default();
            // Columns that were changed later, such as those of accesses, keep their newer values.
            let is_unchanged =
                |(name, _): &(&String, &Value)| current.get(*name) == after.get(*name);
            let columns: Image = before
                .iter()
                .filter(is_unchanged)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            if !columns.is_empty() {
                rows::update(change.conn, &changed.row, &columns)?;
            }
        }
    }
    let Row::Memory(seq) = changed.row else { return Ok(()) };
    change.touch(seq);
    if matches!(&changed.effect, RowEffect::Set { before, .. } if before.contains_key("content")) {
        // The vectors belong to the replaced text; the daemon computes new ones.
        vectors::delete(change.conn, seq)?;
        change.touched.vectors.push((seq, DocumentEncoding::default()));
    }
    if let Some(memory) = memories::by_seq(change.conn, seq)? {
        change.log(Operation::Restore, &memory.id, &json!({"undone": true}))?;
    }
    Ok(())
}

fn remove(change: &mut Change<'_>, row: &Row) -> Result<()> {
    if let Row::Memory(seq) = row
        && let Some(memory) = memories::by_seq(change.conn, *seq)?
    {
        change.log(Operation::Delete, &memory.id, &json!({"undone": true}))?;
        return memories::delete(change.conn, memory.seq);
    }
    rows::delete(change.conn, row)
}

fn to_reply(entry: Entry, undone_at: Option<Timestamp>) -> JournalEntry {
    JournalEntry {
        id: entry.id,
        act: entry.act,
        rows: entry.rows.len(),
        client: entry.client,
        session: entry.session,
        group: entry.group,
        at: entry.at.iso(),
        undone_at: undone_at.map(Timestamp::iso),
    }
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
            let request =
                ForgetRequest { memory_id, reason: None, hard_delete: false, group: None };
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
