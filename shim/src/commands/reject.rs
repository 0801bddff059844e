//! `loci reject`: marks a memory as an attempt that was given up.

use crate::cli::lessons::Reject;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, print_line};
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};

/// Rejects the memory.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Reject) -> Result<(), Problem> {
    let resolved = memory_id::resolve(client, &args.id, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request = ForgetRequest {
        memory_id: resolved.id,
        reason: Some(args.why),
        hard_delete: false,
        rejected: true,
        group: args.project.group,
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ForgetReply = raw_reply.parse()?;
    print_line(format!("Rejected {memory}{}", undo_hint(reply.act)))
}
