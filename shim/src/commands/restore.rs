//! `loci restore`: restores a forgotten, superseded or compacted memory.

use crate::cli::memories::Restore;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, escape_line, print_line};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};

/// Restores the memory.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Restore) -> Result<(), Problem> {
    let resolved = memory_id::resolve(client, &args.id, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request = RestoreRequest { memory_id: resolved.id, group: args.project.group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RestoreReply = raw_reply.parse()?;
    if reply.was == reply.status {
        return print_line(format!("{memory}\n  is already {}", escape_line(&reply.status)));
    }
    print_line(format!(
        "Restored {memory}\n  it was {}{}",
        escape_line(&reply.was),
        undo_hint(reply.act)
    ))
}
