//! `loci pin`: stops the confidence of a memory from fading, or lets it fade again.

use crate::cli::memories::Pin;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, print_line};
use loci_proto::requests::edit::ChangedReply;
use loci_proto::requests::pin::PinRequest;

/// Pins or unpins the memory.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Pin) -> Result<(), Problem> {
    let resolved = memory_id::resolve(client, &args.id, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request =
        PinRequest { memory_id: resolved.id, pinned: !args.off, group: args.project.group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ChangedReply = raw_reply.parse()?;
    let state = if args.off { "fades again" } else { "no longer fades" };
    match reply.act {
        Some(_) => print_line(format!("{memory}\n  {state}{}", undo_hint(reply.act))),
        None => print_line(format!("{memory}\n  nothing to change")),
    }
}
