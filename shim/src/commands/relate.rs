//! `loci relate`: what one entity has to do with another.

use crate::cli::memories::Relate;
use crate::client::call::Door;
use crate::commands::input::memory_id;
use crate::commands::{print, undoable};
use crate::output::{Problem, plain, say};
use loci_proto::requests::relate::{RelateReply, RelateRequest};

/// Keeps the relation.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Relate) -> Result<(), Problem> {
    let group = asked.project.group;
    let subject = memory_id::find(door, &asked.subject, group.as_ref()).await?;
    let object = memory_id::find(door, &asked.object, group.as_ref()).await?;
    let mut evidence = Vec::with_capacity(asked.evidence.len());
    for part in &asked.evidence {
        evidence.push(memory_id::find(door, part, group.as_ref()).await?.id);
    }
    let told = format!(
        "{}\n  {}\n{}",
        memory_id::told(&subject),
        plain(&asked.predicate),
        memory_id::told(&object)
    );
    let request = RelateRequest {
        subject_id: subject.id,
        predicate: asked.predicate,
        object_id: object.id,
        evidence,
        confidence: asked.confidence,
        group,
    };
    let answer = door.reply("store_relation", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: RelateReply = answer.read()?;
    let state = match (reply.created, reply.act) {
        (true, _) => "Related",
        (false, Some(_)) => "Known already; the evidence or the confidence was added",
        (false, None) => "Known already; nothing was changed",
    };
    say(format!("{told}\n\n{state}{}", undoable(reply.act)))
}
