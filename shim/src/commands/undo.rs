//! `loci undo`: takes acts back, after they were shown.

use crate::cli::memories::Undo;
use crate::client::call::Door;
use crate::commands::{history, print};
use crate::output::{Answer, Problem, confirm, note, say};
use loci_proto::requests::undo::{UndoReply, UndoRequest};

/// Shows the acts, asks, and takes back those that were shown: what happens meanwhile is not among them.
///
/// # Errors
/// What the daemon refuses; when the answer is no.
pub async fn run(door: &Door, asked: Undo) -> Result<(), Problem> {
    let request = UndoRequest {
        id: asked.id,
        last: asked.last,
        since_seconds: asked.since,
        preview: true,
        ids: Vec::new(),
    };
    let shown: UndoReply = door.reply("undo", &request).await?.read()?;
    if shown.undone.is_empty() && !asked.format.json {
        return say("Nothing to undo in that time.");
    }
    if !asked.format.json {
        say(history::acts(&shown.undone).trim_end())?;
    } else if !asked.yes {
        note("Note:", history::acts(&shown.undone).trim_end());
    }
    let question = match shown.undone.len() {
        1 => "\nUndo this act?".to_owned(),
        count => format!("\nUndo these {count} acts?"),
    };
    if !shown.undone.is_empty() {
        confirm(&question, Answer::from(asked.yes))?;
    }
    let request = match shown.undone.as_slice() {
        // An empty reply, as the daemon gives it.
        [] => UndoRequest { preview: true, ..request },
        acts => {
            UndoRequest { ids: acts.iter().map(|act| act.id).collect(), ..UndoRequest::default() }
        }
    };
    let answer = door.reply("undo", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: UndoReply = answer.read()?;
    match reply.undone.len() {
        1 => say("Undone."),
        count => say(format!("{count} acts undone.")),
    }
}
