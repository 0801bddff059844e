//! `loci pin`: keeps a memory's confidence from fading, or lets it fade again.

use crate::cli::memories::Pin;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{print, undoable};
use crate::output::{Problem, say};
use loci_proto::requests::edit::ChangedReply;
use loci_proto::requests::pin::PinRequest;

/// Pins or unpins it.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Pin) -> Result<(), Problem> {
    let meant = memory_id::find(door, &asked.id, asked.project.group.as_ref()).await?;
    let told = memory_id::told(&meant);
    let request =
        PinRequest { memory_id: meant.id, pinned: !asked.off, group: asked.project.group };
    let answer = door.reply("pin", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: ChangedReply = answer.read()?;
    let state = if asked.off { "fades again" } else { "does not fade any more" };
    match reply.act {
        Some(_) => say(format!("{told}\n  {state}{}", undoable(reply.act))),
        None => say(format!("{told}\n  was so already")),
    }
}
