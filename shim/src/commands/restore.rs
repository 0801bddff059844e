//! `loci restore`: restores a forgotten, superseded or compacted memory.

use crate::cli::memories::Restore;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, plain, say};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};

/// Restores the memory.
///
/// # Errors
/// A refusal of the daemon.
pub async fn run(client: &VerbClient, args: Restore) -> Result<(), Problem> {
    let resolved = memory_id::find(client, &args.id, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request = RestoreRequest { memory_id: resolved.id, group: args.project.group };
    let answer = client.reply("restore_memory", &request).await?;
    if args.format.json {
        return print_json(&answer);
    }
    let reply: RestoreReply = answer.read()?;
    if reply.was == reply.status {
        return say(format!("{memory}\n  is already {}", plain(&reply.status)));
    }
    say(format!("Restored {memory}\n  it was {}{}", plain(&reply.was), undo_hint(reply.act)))
}
