//! `loci confirm`: confirms memories after showing what they are.

use crate::cli::memories::Confirm;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::commands::row_details::RowDetails;
use crate::output::{
    Consent, MemoryRow, Problem, Rows, Screen, confirm, counted, print_line, print_note,
};
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest};
use std::fmt::Write as _;

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
    let raw_reply = client.ask(&request).await?;
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
    let preview: ConfirmReply = client.call(&request).await?;
    if preview.confirmed == 0 && !args.format.json {
        return print_line("There is no imported memory to confirm.");
    }
    if preview.confirmed > 0 {
        let details = RowDetails::fetch(client, preview.memories.iter()).await?;
        let rows: Vec<MemoryRow> = preview.memories.iter().map(|id| details.row(id, "")).collect();
        let mut shown = Rows::new(Screen::of_stdout()).text(&rows);
        if preview.confirmed > rows.len() {
            let _ = writeln!(shown, "and {} more", preview.confirmed - rows.len());
        }
        if args.format.json {
            print_note("Note:", shown.trim_end());
        } else {
            print_line(shown.trim_end())?;
        }
        let count = counted(preview.confirmed, "imported memory", "imported memories");
        confirm(&format!("\nConfirm {count}?"), Consent::from(args.yes))?;
    }
    let raw_reply = client
        .ask(&ConfirmRequest { preview: false, selection: preview.selection, ..request })
        .await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ConfirmReply = raw_reply.parse()?;
    let memories = counted(reply.confirmed, "memory", "memories");
    print_line(format!("Confirmed {memories}{}", undo_hint(reply.act)))
}
