//! `loci edit`: changes a memory in place.

use super::{id, print, text, undoable};
use crate::cli::memories::Edit;
use crate::client::verbs::Door;
use crate::output::{Problem, plain, say};
use loci_proto::people::{ChangedReply, EditRequest};

/// Changes it, and says what was changed.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Edit) -> Result<(), Problem> {
    let content = asked.content.map(text::given).transpose()?;
    let meant = id::find(door, &asked.id, asked.project.group.as_ref()).await?;
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
