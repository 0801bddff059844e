//! `loci edit`: changes a memory in place.

use crate::cli::memories::Edit;
use crate::client::call::Door;
use crate::commands::input::{memory_id, text};
use crate::commands::{print, undoable};
use crate::output::{Problem, plain, say};
use loci_proto::requests::edit::{ChangedReply, EditRequest};

/// Changes it, and says what was changed.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Edit) -> Result<(), Problem> {
    let content = asked.content.map(text::given).transpose()?;
    let meant = memory_id::find(door, &asked.id, asked.project.group.as_ref()).await?;
    let request = EditRequest {
        memory_id: meant.id,
        content,
        metadata: asked.metadata,
        scope: asked.scope,
        confidence: asked.confidence,
        expires_at: asked.expires,
        group: asked.project.group,
    };
    let answer = door.reply("edit", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: ChangedReply = answer.read()?;
    if reply.changed.is_empty() {
        return say(format!("Nothing to change: {} is so already", reply.id));
    }
    say(format!(
        "Changed {} of {}{}",
        plain(&reply.changed.join(", ")),
        reply.id,
        undoable(reply.act)
    ))
}
