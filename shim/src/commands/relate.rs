//! `loci relate`: stores a relation between two entities.

use crate::cli::memories::Relate;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, escape_line, print_line};
use loci_proto::requests::relate::{RelateReply, RelateRequest};

/// Stores the relation.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Relate) -> Result<(), Problem> {
    let group = args.project.group;
    let subject = memory_id::resolve(client, &args.subject, group.as_ref()).await?;
    let object = memory_id::resolve(client, &args.object, group.as_ref()).await?;
    let mut evidence = Vec::with_capacity(args.evidence.len());
    for id_part in &args.evidence {
        evidence.push(memory_id::resolve(client, id_part, group.as_ref()).await?.id);
    }
    let relation = format!(
        "{}\n  {}\n{}",
        memory_id::describe(&subject),
        escape_line(&args.predicate),
        memory_id::describe(&object)
    );
    let request = RelateRequest {
        subject_id: subject.id,
        predicate: args.predicate,
        object_id: object.id,
        evidence,
        confidence: args.confidence,
        group,
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RelateReply = raw_reply.parse()?;
    let state = match (reply.created, reply.act) {
        (true, _) => "Related",
        (false, Some(_)) => "Already known; the evidence or confidence was updated",
        (false, None) => "Already known; nothing was changed",
    };
    print_line(format!("{relation}\n\n{state}{}", undo_hint(reply.act)))
}
