//! `loci restore`: brings back what was forgotten, superseded or compacted.

use crate::cli::memories::Restore;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{print, undoable};
use crate::output::{Problem, plain, say};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};

/// Brings it back.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Restore) -> Result<(), Problem> {
    let meant = memory_id::find(door, &asked.id, asked.project.group.as_ref()).await?;
    let told = memory_id::told(&meant);
    let request = RestoreRequest { memory_id: meant.id, group: asked.project.group };
    let answer = door.reply("restore_memory", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: RestoreReply = answer.read()?;
    if reply.was == reply.status {
        return say(format!("{told}\n  is {} already", plain(&reply.status)));
    }
    say(format!("Restored {told}\n  it was {}{}", plain(&reply.was), undoable(reply.act)))
}
