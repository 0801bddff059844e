//! `loci redo`: takes back an undo after showing which acts are in force again.

use crate::cli::memories::Redo;
use crate::client::call::VerbClient;
use crate::commands::history::ShownActs;
use crate::commands::reply_text::print_json;
use crate::output::{Consent, Problem, confirm, print_line, print_note};
use loci_proto::requests::redo::{RedoReply, RedoRequest};

/// Shows the acts, asks for confirmation, and redoes them.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(client: &VerbClient, args: Redo) -> Result<(), Problem> {
    let preview: RedoReply = client.call(&RedoRequest { id: args.id, preview: true }).await?;
    let acts = if preview.redone.is_empty() {
        std::slice::from_ref(&preview.undo)
    } else {
        preview.redone.as_slice()
    };
    let table = ShownActs::fetch(client, acts).await?.text(acts);
    if !args.format.json {
        print_line(table.trim_end())?;
    } else if !args.yes {
        print_note("Note:", table.trim_end());
    }
    let question = match acts.len() {
        1 => "\nRedo this act?".to_owned(),
        count => format!("\nRedo these {count} acts?"),
    };
    confirm(&question, Consent::from(args.yes))?;
    // Exactly the undo that was shown, not a later one.
    let id = preview.redone.first().map_or(preview.undo.id, |act| act.id);
    let raw_reply = client.ask(&RedoRequest { id: Some(id), preview: false }).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: RedoReply = raw_reply.parse()?;
    match reply.redone.len() {
        0 | 1 => print_line("Redid 1 act."),
        count => print_line(format!("Redid {count} acts.")),
    }
}
