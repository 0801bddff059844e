//! `redo`: takes back an undo, unless a later change depends on it.
//!
//! An undo writes the rows that it changed to the journal, as every act does; taking it back is undoing
//! that entry. Not here: undoing (`undo`), restoring rows (`undo_act`).

use crate::db::journal::Entry;
use crate::db::{connection, journal};
use crate::error::{Error, Result};
use crate::handles::writer::Writer;
use crate::operations::undo::{MAX_REDO_ROWS, no_such_act};
use crate::operations::undo_act::{check_act, record_act, restore_act, to_reply, undone_acts};
use crate::operations::undo_later::LaterActs;
use crate::operations::verbs::write_verb;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::redo::{RedoReply, RedoRequest};

write_verb!(RedoRequest, Writer::redo, MissingVectors);

impl Writer {
    /// Takes back the last undo, or the one that reverted an act.
    ///
    /// # Errors
    /// `not_found` if there is no such act or nothing was undone, `conflict` if the act is not undone
    /// or a later change depends on the undo, `Database`.
    pub fn redo(&mut self, call: &CallContext, request: &RedoRequest) -> Result<RedoReply> {
        self.run_idempotent(call, |change| {
            connection::defer_foreign_keys(change.conn)?;
            let undo = match request.id {
                None => last_undo(change)?,
                Some(id) => undo_of(change, id)?,
            };
            let later = LaterActs::find(change.conn, &undo, &[])?;
            check_act(change, &undo, &later)?;
            let mut undone_at = undo.undone_at;
            if !request.preview {
                record_act(change, &undo)?;
                restore_act(change, &undo)?;
                change.commit_to_journal(journal::REDO)?;
                undone_at = Some(change.call.now);
            }
            let mut redone = Vec::new();
            for id in undone_acts(&undo) {
                let act = journal::by_id(change.conn, id)?;
                redone
                    .extend(act.map(|act| to_reply(change.conn, &act, act.undone_at)).transpose()?);
            }
            redone.sort_by_key(|act| act.id);
            Ok(RedoReply { undo: to_reply(change.conn, &undo, undone_at)?, redone })
        })
    }
}

fn last_undo(change: &Change<'_>) -> Result<Entry> {
    let last = journal::open_undos(change.conn)?.first().copied();
    let entry = last.map(|id| journal::by_id(change.conn, id)).transpose()?.flatten();
    let nothing = || Failure::new(Code::NotFound, "there is nothing to redo");
    entry.ok_or_else(|| {
        nothing().hint("Run loci history for the acts and when they were undone").into()
    })
}

/// Returns the undo that reverted an act, or the undo of a session with this number.
fn undo_of(change: &Change<'_>, id: i64) -> Result<Entry> {
    for undo in journal::open_undos(change.conn)? {
        let entry = journal::by_id(change.conn, undo)?
            .filter(|entry| entry.id == id || undone_acts(entry).any(|act| act == id));
        if let Some(entry) = entry {
            return Ok(entry);
        }
    }
    let act = journal::by_id(change.conn, id)?.ok_or_else(|| no_such_act(id))?;
    Err(not_redoable(&act))
}

fn not_redoable(act: &Entry) -> Error {
    let Entry { id, act: name, undone_at, .. } = act;
    let (reason, hint) = if undone_at.is_none() {
        ("it is not undone".to_owned(), "Run loci history for the acts that are undone")
    } else {
        let reason = format!(
            "its undo was not recorded: it was undone by an earlier version, or together with more than {MAX_REDO_ROWS} rows"
        );
        (reason, "Do it again, for example import the file again")
    };
    Failure::new(Code::Conflict, format!("act {id} ({name}) cannot be redone: {reason}"))
        .at("id")
        .hint(hint)
        .into()
}
