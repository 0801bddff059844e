//! `loci confirm`: confirms memories after showing what they are.

use crate::cli::memories::Confirm;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{Consent, Problem, confirm, print_line};
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest};

/// Confirms one memory, or asks and confirms all imported ones.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(client: &VerbClient, args: Confirm) -> Result<(), Problem> {
    let Some(part) = &args.id else { return imported(client, &args).await };
    let resolved = memory_id::resolve(client, part, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request = ConfirmRequest {
        memory_id: Some(resolved.id),
        group: args.project.group,
        ..ConfirmRequest::default()
    };
    let raw_reply = client.call_raw("confirm", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ConfirmReply = raw_reply.parse()?;
    match reply.confirmed {
        0 => print_line(format!("{memory}\n  is already confirmed")),
        _ => print_line(format!("Confirmed {memory}{}", undo_hint(reply.act))),
    }
}

async fn imported(client: &VerbClient, args: &Confirm) -> Result<(), Problem> {
    let request = ConfirmRequest { imported: true, preview: true, ..ConfirmRequest::default() };
    let preview: ConfirmReply = client.call("confirm", &request).await?;
    if preview.confirmed == 0 && !args.format.json {
        return print_line("There is no imported memory to confirm.");
    }
    if preview.confirmed > 0 {
        let question = match preview.confirmed {
            1 => "Confirm 1 imported memory?".to_owned(),
            count => format!("Confirm {count} imported memories?"),
        };
        confirm(&question, Consent::from(args.yes))?;
    }
    let raw_reply =
        client.call_raw("confirm", &ConfirmRequest { preview: false, ..request }).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ConfirmReply = raw_reply.parse()?;
    let memories = if reply.confirmed == 1 { "memory" } else { "memories" };
    print_line(format!("Confirmed {} {memories}{}", reply.confirmed, undo_hint(reply.act)))
}
