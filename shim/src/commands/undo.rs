//! `loci undo`: undoes acts after showing them.

use crate::cli::memories::Undo;
use crate::client::call::VerbClient;
use crate::commands::history;
use crate::commands::reply_text::print_json;
use crate::output::{Consent, Problem, confirm, print_line, print_note};
use loci_proto::requests::undo::{UndoReply, UndoRequest};

/// Shows the acts, asks for confirmation, and undoes exactly these acts, not later ones.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(client: &VerbClient, args: Undo) -> Result<(), Problem> {
    let request = UndoRequest {
        id: args.id,
        last: args.last,
        since_seconds: args.since,
        preview: true,
        ids: Vec::new(),
    };
    let preview: UndoReply = client.call("undo", &request).await?;
    if preview.undone.is_empty() && !args.format.json {
        return print_line("There is nothing to undo.");
    }
    if !args.format.json {
        print_line(history::acts_table(&preview.undone).trim_end())?;
    } else if !args.yes {
        print_note("Note:", history::acts_table(&preview.undone).trim_end());
    }
    let question = match preview.undone.len() {
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
            UndoRequest { ids: acts.iter().map(|act| act.id).collect(), ..UndoRequest::default() }
        }
    };
    let raw_reply = client.call_raw("undo", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: UndoReply = raw_reply.parse()?;
    match reply.undone.len() {
        1 => print_line("Undid 1 act."),
        count => print_line(format!("Undid {count} acts.")),
    }
}
