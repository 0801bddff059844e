//! `loci edit`: changes a memory in place.

use crate::cli::memories::Edit;
use crate::client::call::VerbClient;
use crate::commands::input::{memory_id, text};
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, escape_line, print_line};
use loci_proto::requests::edit::{ChangedReply, EditRequest};

/// Changes the memory and prints what changed.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Edit) -> Result<(), Problem> {
    let content = args.content.map(text::read_argument).transpose()?;
    let resolved = memory_id::resolve(client, &args.id, args.project.group.as_ref()).await?;
    let group = args.project.group.as_ref();
    let supersedes = match &args.supersedes {
        Some(id_part) => Some(memory_id::resolve(client, id_part, group).await?.id),
        None => None,
    };
    let request = EditRequest {
        supersedes,
        memory_id: resolved.id,
        content,
        category: args.category,
        unasked: args.unasked,
        metadata: args.metadata,
        scope: args.scope,
        confidence: args.confidence,
        expires_at: args.expires,
        valid_from: args.valid_from,
        valid_to: args.valid_to,
        group: args.project.group,
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ChangedReply = raw_reply.parse()?;
    if reply.changed.is_empty() {
        return print_line(format!("Nothing to change: {} already has these values", reply.id));
    }
    print_line(format!(
        "Changed {} of {}{}",
        escape_line(&reply.changed.join(", ")),
        reply.id,
        undo_hint(reply.act)
    ))
}
