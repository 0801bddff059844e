//! What becomes of the memories of a file when its statements leave it, come back, or are reworded: they follow the file, also those that a
//! person has confirmed. A text that a person has written stays.
//!
//! Not here: what a scan found (`record`), which statements are rewordings (`rewordings`), which memories follow a file (`bridge::origin`).

use crate::bridge::origin::{GONE, follows_file};
use crate::db::bridge::{self, StatementRow};
use crate::db::log::Operation;
use crate::db::memories::{self, StatusChange};
use crate::db::rows::Row;
use crate::error::Result;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::transaction::change::Change;
use loci_proto::memory::{MemoryId, Trust};
use serde_json::{Value, json};

/// Records that a statement left its file. Its memory says so unless another file states it, and an older wording that a file states again
/// is back in force.
pub(super) fn left(change: &mut Change<'_>, file: i64, row: &StatementRow) -> Result<()> {
    let now = change.call.now;
    bridge::set_statement_gone(change.conn, file, &row.hash, Some(now))?;
    if bridge::is_stated(change.conn, &row.memory)? {
        return Ok(());
    }
    set_mark(change, &row.memory, Some(Value::from(now.date())))?;
    let Some(newer) = memories::by_id_text(change.conn, &row.memory)? else { return Ok(()) };
    for older in memories::replaced_by(change.conn, &newer.id)? {
        put_back(change, &older, &newer)?;
    }
    Ok(())
}

/// Records that a file states a memory again.
pub(super) fn came_back(change: &mut Change<'_>, memory: &str) -> Result<()> {
    set_mark(change, memory, None)?;
    let Some(older) = memories::by_id_text(change.conn, memory)? else { return Ok(()) };
    let Some(newer) = &older.superseded_by else { return Ok(()) };
    match memories::by_id_text(change.conn, newer)? {
        Some(newer) => put_back(change, &older, &newer),
        None => Ok(()),
    }
}

/// Supersedes the memory of the older wording of a statement by the new one, which waits for the person as every text of a file; returns
/// whether it was. What another file still states stays.
pub(super) fn reword(change: &mut Change<'_>, older: &str, by: &MemoryId) -> Result<bool> {
    let Some(old) = memories::by_id_text(change.conn, older)? else { return Ok(false) };
    if old.status != Status::Active
        || old.id == *by
        || !follows_file(&old)
        || bridge::is_stated(change.conn, older)?
    {
        return Ok(false);
    }
    supersede(change, &old, by)?;
    Ok(true)
}

fn supersede(change: &mut Change<'_>, old: &Memory, by: &MemoryId) -> Result<()> {
    change.record_before(Row::Memory(old.seq))?;
    memories::supersede(change.conn, old.seq, by, change.call.now)?;
    let is_confirmed = old.provenance.trust == Trust::Person;
    let details = json!({"by": by, "reworded": true, "confirmed": is_confirmed.then_some(true)});
    change.log(Operation::Supersede, &old.id, &details)?;
    change.touch(old.seq);
    Ok(())
}

/// Puts an older wording in force again if a file states it, and none the newer one that replaced it.
fn put_back(change: &mut Change<'_>, older: &Memory, newer: &Memory) -> Result<()> {
    let conn = change.conn;
    let is_replaced = older.status == Status::Superseded
        && older.superseded_by.as_deref() == Some(newer.id.as_str())
        && follows_file(older)
        && follows_file(newer);
    if !is_replaced
        || !bridge::is_stated(conn, older.id.as_str())?
        || bridge::is_stated(conn, newer.id.as_str())?
        || !memories::same_text(conn, older)?.is_empty()
    {
        return Ok(());
    }
    change.record_before(Row::Memory(older.seq))?;
    memories::set_status(conn, older.seq, StatusChange::ACTIVE, change.call.now)?;
    change.log(Operation::Restore, &older.id, &json!({"reworded": true}))?;
    change.touch(older.seq);
    if newer.status == Status::Active { supersede(change, newer, &older.id) } else { Ok(()) }
}

/// Changes the mark in the metadata of a memory that follows its file.
fn set_mark(change: &mut Change<'_>, memory: &str, mark: Option<Value>) -> Result<()> {
    let Some(mut memory) = memories::by_id_text(change.conn, memory)? else {
        return Ok(());
    };
    if !follows_file(&memory) || memory.metadata.get(GONE) == mark.as_ref() {
        return Ok(());
    }
    change.record_before(Row::Memory(memory.seq))?;
    match mark {
        Some(day) => drop(memory.metadata.insert(GONE.to_owned(), day)),
        None => drop(memory.metadata.remove(GONE)),
    }
    memories::set_metadata(change.conn, &memory, change.call.now)?;
    change.touch(memory.seq);
    Ok(())
}
