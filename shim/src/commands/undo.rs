//! `loci undo`: undoes acts after showing them.

use crate::cli::memories::Undo;
use crate::client::call::VerbClient;
use crate::commands::history::{ShownActs, stored_text};
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::commands::row_details::RowDetails;
use crate::output::{Consent, Problem, confirm, counted, escape_line, print_line, print_note};
use loci_proto::requests::history::JournalEntry;
use loci_proto::requests::undo::{UndoReply, UndoRequest};
use std::fmt::Write as _;

/// Shows the acts, asks for confirmation, and undoes exactly these acts, not later ones.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(client: &VerbClient, args: Undo) -> Result<(), Problem> {
    if let Some(session) = args.session.clone() {
        return undo_session(client, &args, session).await;
    }
    let request = UndoRequest {
        id: args.id,
        last: args.last,
        since_seconds: args.since,
        preview: true,
        ..UndoRequest::default()
    };
    let preview: UndoReply = client.call(&request).await?;
    if preview.undone.is_empty() && !args.format.json {
        return print_line("There is nothing to undo.");
    }
    let later: Vec<JournalEntry> = preview.also.iter().chain(&preview.in_part).cloned().collect();
    let all: Vec<JournalEntry> = preview.undone.iter().chain(&later).cloned().collect();
    let acts = ShownActs::fetch(client, &all).await?;
    let mut shown = acts.text(&preview.undone);
    add_later(&mut shown, &acts, &preview.also, "on these memories");
    add_later(&mut shown, &acts, &preview.in_part, "for these memories; for others they stay");
    if !args.format.json {
        print_line(shown.trim_end())?;
    } else if !args.yes {
        print_note("Note:", shown.trim_end());
    }
    let question = match all.len() {
        1 => "\nUndo this act?".to_owned(),
        count => format!("\nUndo these {count} acts?"),
    };
    if !preview.undone.is_empty() {
        confirm(&question, Consent::from(args.yes))?;
    }
    let request = match preview.undone.as_slice() {
        // With --json, print the daemon's empty reply.
        [] => UndoRequest { preview: true, ..request },
        acts => {
            let ids = |acts: &[JournalEntry]| acts.iter().map(|act| act.id).collect();
            UndoRequest { ids: ids(acts), with: ids(&later), ..UndoRequest::default() }
        }
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: UndoReply = raw_reply.parse()?;
    let undone = counted(reply.undone.len() + reply.also.len(), "act", "acts");
    for memory in &reply.stored {
        let text = escape_line(&memory.preview);
        print_line(format!("Stored {}  {text}", memory_id::short(memory.id.as_str())))?;
    }
    print_line(format!("Undid {undone}; take it back with loci redo"))
}

/// Lists later acts that are undone too.
fn add_later(text: &mut String, acts: &ShownActs, later: &[JournalEntry], what: &str) {
    if !later.is_empty() {
        let count = counted(later.len(), "later act", "later acts");
        let _ = write!(text, "\nAlso takes back {count} {what}:\n{}", acts.text(later));
    }
}

/// Shows what a session did, asks for confirmation, and takes it back.
async fn undo_session(client: &VerbClient, args: &Undo, session: String) -> Result<(), Problem> {
    let request = UndoRequest { session: Some(session), preview: true, ..UndoRequest::default() };
    let preview: UndoReply = client.call(&request).await?;
    let is_empty = preview.undone.is_empty() && preview.removed.is_empty();
    let acts = ShownActs::fetch(client, &preview.undone).await?;
    let stored = RowDetails::fetch(client, preview.removed.iter().map(|memory| &memory.id)).await?;
    let shown = session_text(&preview, &acts, &stored);
    if !args.format.json {
        print_line(shown.trim_end())?;
    } else if !args.yes {
        print_note("Note:", shown.trim_end());
    }
    if is_empty && !args.format.json {
        return print_line("There is nothing to undo.");
    }
    if !is_empty {
        let question = format!(
            "\nRemove {} and undo {}?",
            counted(preview.removed.len(), "memory", "memories"),
            counted(preview.undone.len(), "act", "acts")
        );
        confirm(&question, Consent::from(args.yes))?;
    }
    let request = UndoRequest { session: preview.session, ..UndoRequest::default() };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: UndoReply = raw_reply.parse()?;
    print_line(format!(
        "Removed {}, undid {}, kept {}.{}",
        counted(reply.removed.len(), "memory", "memories"),
        counted(reply.undone.len(), "act", "acts"),
        reply.skipped.len(),
        undo_hint(reply.act)
    ))
}

fn session_text(reply: &UndoReply, acts: &ShownActs, stored: &RowDetails) -> String {
    let session = escape_line(reply.session.as_deref().unwrap_or_default());
    let mut text = format!("Session {session}\n");
    if !reply.removed.is_empty() {
        let _ = write!(text, "\n{}", stored_text(&reply.removed, stored));
    }
    if !reply.undone.is_empty() {
        let _ = write!(text, "\n{}", acts.text(&reply.undone));
    }
    for skipped in &reply.skipped {
        let what = match (&skipped.id, skipped.act) {
            (Some(id), _) => memory_id::short(id.as_str()),
            (None, act) => format!("act {}", act.unwrap_or_default()),
        };
        let _ = writeln!(text, "\nKept: {what}: {}", escape_line(&skipped.reason));
    }
    text
}
