//! Undoes one act: checks that nothing depends on it, and restores its rows.
//!
//! Keeps later accesses and boosts. Not here: which acts are undone (`undo`, `undo_session`),
//! recording the rows of an act (`transaction::change`).

use crate::db::journal;
use crate::db::journal::{Entry, RowChange, RowEffect};
use crate::db::log::Operation;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{lexical, memories, relations};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::model::time::Timestamp;
use crate::transaction::change::{Change, fingerprint, is_usage_column};
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::history::JournalEntry;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Refuses to undo an act that is undone already, or on whose rows later changes depend.
pub(crate) fn check_act(change: &Change<'_>, entry: &Entry) -> Result<()> {
    if entry.undone_at.is_some() {
        return Err(
            Failure::new(Code::Conflict, format!("act {} is already undone", entry.id)).into()
        );
    }
    let act_rows: HashSet<&Row> = entry.rows.iter().map(|changed| &changed.row).collect();
    entry.rows.iter().try_for_each(|changed| check_unchanged(change, entry, &act_rows, changed))
}

/// Restores the rows of an act that [`check_act`] has admitted, and marks it as undone.
pub(crate) fn restore_act(change: &mut Change<'_>, entry: &Entry) -> Result<()> {
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
    if matches!(changed.effect, RowEffect::Deleted(_)) {
        mentions::renew(change, seq)?;
    }
    if matches!(&changed.effect, RowEffect::Set { before, .. } if before.contains_key("content")) {
        // The vectors belong to the replaced text; the daemon computes new ones.
        change.delete_encodings(seq)?;
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

/// Returns an act as a line of the history.
pub(crate) fn to_reply(entry: Entry, undone_at: Option<Timestamp>) -> JournalEntry {
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

fn conflict(entry: &Entry, reason: &str) -> Error {
    let message = format!("act {} ({}) cannot be undone: {reason}", entry.id, entry.act);
    Failure::new(Code::Conflict, message)
        .hint("Undo the later acts first; loci history lists them")
        .into()
}
