//! `loci supersede`: marks a memory as replaced by another one.

use crate::cli::versions::Supersede;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, print_line};
use loci_proto::requests::supersede::{SupersedeReply, SupersedeRequest};

/// Marks the old memory and prints both.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Supersede) -> Result<(), Problem> {
    let group = args.project.group.as_ref();
    let old = memory_id::resolve(client, &args.old, group).await?;
    let new = memory_id::resolve(client, &args.new, group).await?;
    let (old_text, new_text) = (memory_id::describe(&old), memory_id::describe(&new));
    let request = SupersedeRequest { old: old.id, new: new.id, group: args.project.group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: SupersedeReply = raw_reply.parse()?;
    print_line(format!("Superseded {old_text}\n  by {new_text}{}", undo_hint(reply.act)))
}
