//! `loci move`: moves memories to another project.

use crate::cli::memories::Move;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Problem, escape_line, print_line};
use loci_proto::requests::move_to::{MoveReply, MoveRequest};

/// Moves the memories.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Move) -> Result<(), Problem> {
    let mut memory_ids = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        memory_ids.push(memory_id::resolve(client, id, args.project.group.as_ref()).await?.id);
    }
    let request =
        MoveRequest { memory_ids, to: args.to, create: args.create, group: args.project.group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: MoveReply = raw_reply.parse()?;
    let name = escape_line(&reply.name);
    let new = if reply.created { ", a new project" } else { "" };
    let memories = if reply.moved == 1 { "memory" } else { "memories" };
    // An undo would take the memories out of an isolated project, or into it.
    let undo = if reply.isolated {
        "\nThis cannot be undone, because a project is isolated: loci move takes them back"
            .to_owned()
    } else {
        undo_hint(reply.act)
    };
    print_line(match reply.moved {
        0 => format!("Already in {name}"),
        count => format!("Moved {count} {memories} to {name}{new}{undo}"),
    })
}
