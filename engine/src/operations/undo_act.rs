//! Undoes one act: checks that nothing depends on it, and restores its rows.
//!
//! Keeps later accesses and boosts. Not here: which acts are undone (`undo`, `undo_session`),
//! recording the rows of an act (`transaction::change`).

use crate::db::journal;
use crate::db::journal::{Entry, RowChange, RowEffect};
use crate::db::log::Operation;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{isolated_groups, lexical, memories, relations};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::flags;
use crate::model::actor::is_of_person;
use crate::model::document;
use crate::model::provenance::Provenance;
use crate::model::time::Timestamp;
use crate::operations::folders::HEAL;
use crate::operations::undo_later::{LaterActs, is_import, keeps_texts};
use crate::search::budget;
use crate::transaction::change::{Change, fingerprint, is_usage_column};
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{Origin, Trust};
use loci_proto::requests::history::{ChangedText, JournalEntry, MAX_CHANGED_TEXTS};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Memories of an import whose projects are looked at.
const MAX_PLACED: usize = 50;

/// Refuses to undo an act that is undone already, or on whose rows later changes depend.
pub(crate) fn check_act(change: &Change<'_>, entry: &Entry, later: &LaterActs) -> Result<()> {
    if entry.undone_at.is_some() {
        return Err(
            Failure::new(Code::Conflict, format!("act {} is already undone", entry.id)).into()
        );
    }
    check_isolation(change, entry)?;
    if change.call.actor.origin != Origin::Person {
        if is_of_person(entry.client.as_deref()) {
            return Err(only_person(entry, "a person did it").into());
        }
        entry.rows.iter().try_for_each(|changed| check_trust(change, entry, changed))?;
    }
    let act_rows: HashSet<&Row> = entry.rows.iter().map(|changed| &changed.row).collect();
    entry
        .rows
        .iter()
        .try_for_each(|changed| check_unchanged(change, (entry, later), &act_rows, changed))
}

/// Refuses to an agent to take back what changes the trust in a memory, or a memory of a person.
fn check_trust(change: &Change<'_>, entry: &Entry, changed: &RowChange) -> Result<()> {
    let Row::Memory(_) = changed.row else { return Ok(()) };
    let is_of_person =
        |image: &Image| image.get("trust").and_then(Value::as_str) == Some(Trust::Person.as_str());
    let changes_trust = match &changed.effect {
        RowEffect::Set { before, after } => ["trust", "flags"]
            .iter()
            .any(|name| before.contains_key(*name) || after.contains_key(*name)),
        RowEffect::Deleted(before) => is_of_person(before),
        RowEffect::Inserted(_) => false,
    };
    let current = rows::image(change.conn, &changed.row)?;
    if changes_trust || current.as_ref().is_some_and(is_of_person) {
        let reason = "it concerns a memory that a person stored or confirmed";
        return Err(only_person(entry, reason).into());
    }
    Ok(())
}

/// Refuses to take back a change of projects or of a memory's project if one of them is isolated: its
/// memories would leave it.
fn check_isolation(change: &Change<'_>, entry: &Entry) -> Result<()> {
    let isolated = isolated_groups::all(change.conn)?;
    // Without its alias, a folder no longer leads to the project; nothing leaves it.
    if isolated.is_empty() || entry.act == HEAL {
        return Ok(());
    }
    let is_isolated = |group: &str| isolated.iter().any(|isolated| isolated == group);
    let names_isolated = |image: &Image| {
        ["source_group", "group_id", "id"]
            .iter()
            .any(|name| image.get(*name).and_then(Value::as_str).is_some_and(is_isolated))
    };
    let moves = |changed: &RowChange| match (&changed.row, &changed.effect) {
        (Row::Group(id), RowEffect::Inserted(_)) => is_isolated(id),
        (Row::Group(_) | Row::Alias(_), RowEffect::Deleted(before)) => names_isolated(before),
        (Row::Memory(_) | Row::Alias(_), RowEffect::Set { before, after }) => {
            names_isolated(before) || names_isolated(after)
        }
        _ => false,
    };
    let alias_of_isolated = |changed: &RowChange| {
        let current = match (&changed.row, &changed.effect) {
            (Row::Alias(_), RowEffect::Inserted(_)) => rows::image(change.conn, &changed.row)?,
            _ => None,
        };
        Ok::<bool, Error>(current.as_ref().is_some_and(names_isolated))
    };
    for changed in &entry.rows {
        if moves(changed) || alias_of_isolated(changed)? {
            let failure = conflict_failure(entry, "a project of it is isolated");
            return Err(failure
                .hint("End the isolation first: isolated = false in .loci.toml")
                .into());
        }
    }
    Ok(())
}

/// Restores the rows of an act that [`check_act`] has admitted, and marks it as undone.
pub(crate) fn restore_act(change: &mut Change<'_>, entry: &Entry) -> Result<()> {
    let conn = change.conn;
    let changed_texts = entry.rows.iter().filter(|changed| changes_text(changed)).count();
    let mut restore_rows = || {
        entry.rows.iter().rev().try_for_each(|changed| {
            failpoint!("before a row is restored");
            restore_row(change, changed).map_err(|error| {
                if error.is_duplicate() {
                    return conflict(entry, "what it would bring back is there again");
                }
                error
            })
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
    (entry, later): (&Entry, &LaterActs),
    act_rows: &HashSet<&Row>,
    changed: &RowChange,
) -> Result<()> {
    let row = &changed.row;
    let refuse = |reason: &str| Err(conflict(entry, &format!("{reason}{}", later.named([row]))));
    let current = rows::image(change.conn, row)?;
    match (&changed.effect, current) {
        // The memory was removed when its import was undone: of it there is nothing to take back.
        (RowEffect::Set { .. }, None) if keeps_texts(&entry.act) => Ok(()),
        (RowEffect::Inserted(_) | RowEffect::Set { .. }, None) => {
            refuse("a row that it created or changed no longer exists")
        }
        (RowEffect::Deleted(_), Some(_)) => refuse("a row that it deleted exists again"),
        (RowEffect::Inserted(hash), Some(current)) => {
            let image = later.before_parts(row, current.clone());
            if *hash != fingerprint(&image) {
                return refuse("a row that it created was changed later");
            }
            let others = dependents(change, act_rows, row, &current)?;
            if others.is_empty() {
                return Ok(());
            }
            let named = LaterActs::of_rows(change.conn, entry, &others)?;
            let reason = format!("a later change refers to a row that it created{named}");
            Err(conflict(entry, &reason))
        }
        (RowEffect::Deleted(before), None) if is_stored_again(change, row, before)? => {
            refuse("a memory that it would bring back is there again")
        }
        (RowEffect::Deleted(_), None) => Ok(()),
        (RowEffect::Set { after, .. }, Some(current)) => {
            let changed_later = after
                .iter()
                .find(|(name, value)| !is_usage_column(name) && current.get(*name) != Some(*value));
            changed_later.map_or(Ok(()), |(name, _)| {
                refuse(&format!("the {name} that it set was changed later"))
            })
        }
    }
}

/// Returns whether a deleted memory has come back as another row, for example by an import of its file.
fn is_stored_again(change: &Change<'_>, row: &Row, image: &Image) -> Result<bool> {
    let id = image.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    match (row, id) {
        (Row::Memory(_), Some(id)) => Ok(memories::by_id(change.conn, &id)?.is_some()),
        _ => Ok(false),
    }
}

/// Returns the relations, variants and sources that would be deleted with the row and that the act
/// did not create.
fn dependents(
    change: &Change<'_>,
    act_rows: &HashSet<&Row>,
    row: &Row,
    image: &Image,
) -> Result<Vec<Row>> {
    let Row::Memory(seq) = row else { return Ok(Vec::new()) };
    let id = image.get("id").and_then(Value::as_str).unwrap_or_default();
    let mut dependent = relations::rows_of(change.conn, *seq, id)?;
    dependent.retain(|row| !act_rows.contains(row));
    Ok(dependent)
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
    if changed.effect.replaces_text() {
        flag_again(change, seq)?;
    }
    if let RowEffect::Set { before, after } = &changed.effect
        && (before.contains_key("content") || questions_of(before) != questions_of(after))
    {
        // The vectors belong to the replaced texts; the daemon computes new ones.
        change.delete_encodings(seq)?;
    }
    if let Some(memory) = memories::by_seq(change.conn, seq)? {
        change.log(Operation::Restore, &memory.id, &json!({"undone": true}))?;
    }
    Ok(())
}

/// Adds the flags of a text that an undo brought back: they may have been cleared for the text that it replaces.
fn flag_again(change: &Change<'_>, seq: i64) -> Result<()> {
    let Some(memory) = memories::by_seq(change.conn, seq)? else { return Ok(()) };
    let Provenance { trust, mut flags, .. } = memory.provenance;
    flags.merge(flags::of_memory(&memory.content, &memory.metadata));
    if trust == Trust::Person
        || change.call.actor.origin == Origin::Person
        || flags == memory.provenance.flags
    {
        return Ok(());
    }
    let columns = Image::from_iter([("flags".to_owned(), json!(memories::flags_column(flags)))]);
    rows::update(change.conn, &Row::Memory(seq), &columns)
}

/// Returns the questions in the metadata of an image; empty if the image does not have the column.
fn questions_of(image: &Image) -> String {
    let metadata = image.get("metadata").and_then(Value::as_str);
    let metadata = metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    document::questions(&metadata)
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

/// Records an act and its rows before it is undone, so that the undo can be taken back.
pub(crate) fn record_act(change: &mut Change<'_>, entry: &Entry) -> Result<()> {
    change.record_before(Row::Act(entry.id))?;
    entry.rows.iter().try_for_each(|changed| change.record_before(changed.row.clone()))
}

/// Returns an act as a line of the history.
pub(crate) fn to_reply(
    conn: &Connection,
    entry: &Entry,
    undone_at: Option<Timestamp>,
) -> Result<JournalEntry> {
    Ok(JournalEntry {
        id: entry.id,
        act: entry.act.clone(),
        rows: entry.rows.len(),
        client: entry.client.clone(),
        session: entry.session.clone(),
        group: project_of(conn, entry)?,
        at: entry.at.iso(),
        undone_at: undone_at.map(Timestamp::iso),
        changed: changed_texts(conn, entry)?,
    })
}

/// Returns the project of an act: of an import, the one into which it imported, if it is only one.
fn project_of(conn: &Connection, entry: &Entry) -> Result<Option<String>> {
    let mut found: Option<String> = None;
    let rows = entry.rows.iter().filter(|changed| matches!(changed.row, Row::Memory(_)));
    for changed in rows.take(if is_import(&entry.act) { MAX_PLACED } else { 0 }) {
        let Row::Memory(seq) = changed.row else { continue };
        let Some(group) = memories::by_seq(conn, seq)?.and_then(|memory| memory.group) else {
            continue;
        };
        if found.as_ref().is_some_and(|found| *found != group) {
            return Ok(None);
        }
        found = Some(group);
    }
    Ok(found.or_else(|| entry.group.clone()))
}

/// Returns the texts of the first memories and projects that an act changed.
fn changed_texts(conn: &Connection, entry: &Entry) -> Result<Vec<ChangedText>> {
    let mut texts: Vec<ChangedText> = Vec::new();
    for changed in &entry.rows {
        if texts.len() == MAX_CHANGED_TEXTS {
            break;
        }
        texts.extend(changed_text(conn, changed)?);
    }
    Ok(texts)
}

/// Returns what a row of an act is for a person; `None` if the row has no text, or is gone and the
/// act has no image of it.
fn changed_text(conn: &Connection, changed: &RowChange) -> Result<Option<ChangedText>> {
    let text =
        |image: &Image, name: &str| image.get(name).and_then(Value::as_str).map(str::to_owned);
    let preview = |text: String| budget::preview_for_person(&text);
    match &changed.row {
        Row::Memory(seq) => {
            let current = memories::by_seq(conn, *seq)?;
            let id = current.as_ref().map(|memory| memory.id.clone());
            let current = current.map(|memory| memory.content);
            Ok(match &changed.effect {
                RowEffect::Deleted(image) => text(image, "content").map(|content| ChangedText {
                    id: text(image, "id").and_then(|id| id.parse().ok()),
                    preview: preview(content),
                    before: None,
                }),
                RowEffect::Set { before, after } => {
                    text(after, "content").or(current).map(|content| ChangedText {
                        id,
                        preview: preview(content),
                        before: text(before, "content").map(preview),
                    })
                }
                RowEffect::Inserted(_) => current.map(|content| ChangedText {
                    id,
                    preview: preview(content),
                    before: None,
                }),
            })
        }
        Row::Group(_) => {
            let (before, after) = match &changed.effect {
                RowEffect::Set { before, after } => (text(before, "name"), text(after, "name")),
                RowEffect::Deleted(image) => (None, text(image, "name")),
                RowEffect::Inserted(_) => (None, None),
            };
            let current = rows::image(conn, &changed.row)?;
            let name = after.or_else(|| current.and_then(|image| text(&image, "name")));
            Ok(name.map(|preview| ChangedText { id: None, preview, before }))
        }
        _ => Ok(None),
    }
}

fn conflict(entry: &Entry, reason: &str) -> Error {
    let failure = conflict_failure(entry, reason);
    failure.hint("Undo the later acts first; loci history lists them").into()
}

fn conflict_failure(entry: &Entry, reason: &str) -> Failure {
    let message = match entry.act.as_str() {
        journal::UNDO => format!("the undo of {} cannot be taken back: {reason}", acts_text(entry)),
        act => format!("act {} ({act}) cannot be undone: {reason}", entry.id),
    };
    Failure::new(Code::Conflict, message)
}

fn only_person(entry: &Entry, reason: &str) -> Failure {
    let verb = if entry.act == journal::UNDO { "redo" } else { "undo" };
    Failure::only_person(
        conflict_failure(entry, reason).message,
        &format!("loci {verb} {}", entry.id),
    )
}

/// Returns the numbers of the acts that an undo reverted.
fn acts_text(entry: &Entry) -> String {
    let acts: Vec<String> = undone_acts(entry).map(|id| format!("act {id}")).collect();
    acts.join(", ")
}

/// Returns the numbers of the acts that an undo reverted, in the order of undoing.
pub(crate) fn undone_acts(entry: &Entry) -> impl Iterator<Item = i64> + '_ {
    entry.rows.iter().filter_map(|changed| match changed.row {
        Row::Act(id) => Some(id),
        _ => None,
    })
}
