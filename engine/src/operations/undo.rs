//! `undo` and `history`: acts are undone, newest first or a single one, unless a later change
//! depends on them.
//!
//! Later accesses and boosts are kept. Not here: which rows an act records (`crate::transaction`).

use crate::db::journal;
use crate::db::journal::{Entry, RowChange, RowEffect};
use crate::db::log::Operation;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{connection, lexical, memories, relations, vectors};
use crate::error::{Error, Result};
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::encoding::DocumentEncoding;
use crate::transaction::change::{CallContext, Change, fingerprint, is_usage_column};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::history::{HistoryReply, HistoryRequest, JournalEntry};
use loci_proto::requests::undo::{UndoReply, UndoRequest, UndoTarget};
use serde_json::json;
use std::collections::HashSet;

/// Default acts on one page of the history.
const PAGE: usize = 20;

impl Writer {
    /// Undoes acts: one by number, the newest, or all since a time. All or none.
    ///
    /// # Errors
    /// `not_found` if there is no such act, `conflict` if it was undone before or a later change
    /// depends on it, `Database`.
    pub fn undo(&mut self, call: &CallContext, request: &UndoRequest) -> Result<UndoReply> {
        self.run_idempotent(call, |change| {
            connection::defer_foreign_keys(change.conn)?;
            let mut undone = Vec::new();
            for id in selected_acts(change, request)? {
                let entry = journal::by_id(change.conn, id)?.ok_or_else(|| no_such_act(id))?;
                if request.preview {
                    let at = entry.undone_at;
                    undone.push(to_act(entry, at));
                    continue;
                }
                undo_act(change, &entry)?;
                undone.push(to_act(entry, Some(change.call.now)));
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
        let limit = request.limit.unwrap_or(PAGE).clamp(1, 1000);
        let seq = match &request.memory_id {
            Some(id) => memories::by_id(&self.conn, id)?.map(|memory| memory.seq).or(Some(-1)),
            None => None,
        };
        let (mut acts, mut before) = (Vec::new(), request.before);
        loop {
            let page = journal::list(&self.conn, before, limit)?;
            before = page.last().map(|entry| entry.id);
            let full = page.len() == limit;
            acts.extend(
                page.into_iter().filter(|entry| seq.is_none_or(|seq| concerns(entry, seq))),
            );
            if !full || acts.len() >= limit {
                acts.truncate(limit);
                let next = full.then(|| acts.last().map(|entry| entry.id)).flatten();
                return Ok(HistoryReply {
                    acts: acts
                        .into_iter()
                        .map(|e| {
                            let at = e.undone_at;
                            to_act(e, at)
                        })
                        .collect(),
                    next,
                });
            }
        }
    }
}

fn concerns(entry: &Entry, seq: i64) -> bool {
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

fn conflict(entry: &Entry, why: &str) -> Error {
    let message = format!("act {} ({}) cannot be undone: {why}", entry.id, entry.act);
    Failure::new(Code::Conflict, message)
        .hint("Undo the later acts first; loci history lists them")
        .into()
}

fn undo_act(change: &mut Change<'_>, entry: &Entry) -> Result<()> {
    if entry.undone_at.is_some() {
        return Err(
            Failure::new(Code::Conflict, format!("act {} is undone already", entry.id)).into()
        );
    }
    let own: HashSet<&Row> = entry.rows.iter().map(|changed| &changed.row).collect();
    entry.rows.iter().try_for_each(|changed| check_unchanged(change, entry, &own, changed))?;
    let conn = change.conn;
    let texts = entry.rows.iter().filter(|changed| has_text(changed)).count();
    let mut restore_row =
        || entry.rows.iter().rev().try_for_each(|changed| restore_row(change, changed));
    if lexical::is_rebuild_cheaper(conn, texts)? {
        lexical::with_rebuild(conn, restore_row)?;
    } else {
        restore_row()?;
    }
    journal::set_undone(conn, entry.id, change.call.now)
}

/// Returns true if a text is added, removed or changed.
fn has_text(changed: &RowChange) -> bool {
    let other = |effect: &RowEffect| !matches!(effect, RowEffect::Set { before, .. } if !before.contains_key("content"));
    matches!(changed.row, Row::Memory(_)) && other(&changed.effect)
}

/// Refuses if a row has changed since the act.
fn check_unchanged(
    change: &Change<'_>,
    entry: &Entry,
    own: &HashSet<&Row>,
    changed: &RowChange,
) -> Result<()> {
    let now = rows::image(change.conn, &changed.row)?;
    match (&changed.effect, now) {
        (RowEffect::Inserted(_) | RowEffect::Set { .. }, None) => {
            Err(conflict(entry, "a row that it created or changed no longer exists"))
        }
        (RowEffect::Deleted(_), Some(_)) => {
            Err(conflict(entry, "a row that it deleted exists again"))
        }
        (RowEffect::Inserted(print), Some(now)) if *print != fingerprint(&now) => {
            Err(conflict(entry, "a row that it created was changed later"))
        }
        (RowEffect::Inserted(_), Some(now)) if would_cascade(change, own, &changed.row, &now)? => {
            Err(conflict(entry, "a later change refers to a row that it created"))
        }
        (RowEffect::Deleted(_), None) | (RowEffect::Inserted(_), Some(_)) => Ok(()),
        (RowEffect::Set { after, .. }, Some(now)) => {
            let moved = after
                .iter()
                .find(|(name, value)| !is_usage_column(name) && now.get(*name) != Some(*value));
            moved.map_or(Ok(()), |(name, _)| {
                Err(conflict(entry, &format!("the {name} that it set was changed since")))
            })
        }
    }
}

/// Returns whether deleting the row would also delete relations, variants or sources that the act
/// did not create.
fn would_cascade(
    change: &Change<'_>,
    own: &HashSet<&Row>,
    row: &Row,
    image: &Image,
) -> Result<bool> {
    let Row::Memory(seq) = row else { return Ok(false) };
    let id = image.get("id").and_then(serde_json::Value::as_str).unwrap_or_default();
    let dependent = relations::rows_of(change.conn, *seq, id)?;
    Ok(dependent.iter().any(|row| !own.contains(row)))
}

fn restore_row(change: &mut Change<'_>, changed: &RowChange) -> Result<()> {
    match &changed.effect {
        RowEffect::Inserted(_) => remove(change, &changed.row)?,
        RowEffect::Deleted(before) => rows::insert(change.conn, &changed.row, before)?,
        RowEffect::Set { before, after } => {
            let now = rows::image(change.conn, &changed.row)?.unwrap_or_default();
            // Accesses since then are newer than the act.
            let same =
                |(name, _): &(&String, &serde_json::Value)| now.get(*name) == after.get(*name);
            let columns: Image = before
                .iter()
                .filter(same)
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
        // Its vectors belong to the other text; the daemon computes new ones.
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

fn to_act(entry: Entry, undone_at: Option<crate::model::time::Timestamp>) -> JournalEntry {
    JournalEntry {
        id: entry.id,
        act: entry.act,
        rows: entry.rows.len(),
        client: entry.client,
        session: entry.session,
        group: entry.group,
        at: entry.at.iso(),
        undone_at: undone_at.map(crate::model::time::Timestamp::iso),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{TestStore, named};
    use loci_proto::requests::forget::ForgetRequest;
    use loci_proto::requests::list::{ListReply, ListRequest};
    use serde_json::json;

    fn left(test_store: &TestStore) -> ListReply {
        test_store
            .reader
            .list(&ListRequest::default(), &named("a"), test_store.now)
            .expect("is listed")
    }

    #[test]
    fn a_preview_undoes_nothing_and_named_acts_are_undone_newest_first_all_or_none() {
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
                    .expect("is forgotten")
                    .act
                    .expect("is an act"),
            );
        }
        let preview =
            UndoRequest { since_seconds: Some(60), preview: true, ..UndoRequest::default() };
        let shown: Vec<i64> = test_store
            .writer
            .undo(&call, &preview)
            .expect("is shown")
            .undone
            .iter()
            .map(|act| act.id)
            .collect();
        assert_eq!((shown, left(&test_store).total), (vec![acts[1], acts[0]], 0));

        let with_none = UndoRequest { ids: vec![acts[0], 77], ..UndoRequest::default() };
        assert!(test_store.writer.undo(&call, &with_none).is_err());
        assert_eq!(left(&test_store).total, 0, "all or none");
        let these = UndoRequest { ids: acts.clone(), ..UndoRequest::default() };
        let undone = test_store.writer.undo(&call, &these).expect("is undone").undone;
        assert_eq!((undone[0].id, undone[1].id, left(&test_store).total), (acts[1], acts[0], 2));
        assert!(UndoRequest { last: true, ids: acts, ..UndoRequest::default() }.target().is_err());
    }
}
