//! `loci brief`: prints the brief of a project as a hook delivers it at the beginning of a session.

use crate::cli::hooks::Brief;
use crate::client::call::VerbClient;
use crate::commands::reply_text::print_json;
use crate::output::{Problem, escape_lines, print_line};
use loci_proto::requests::hook::{HookClient, HookEvent, HookReply, HookRequest};

/// Prints the brief; nothing if nothing is stored.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Brief) -> Result<(), Problem> {
    let request = HookRequest {
        group: args.group,
        dry_run: true,
        ..HookRequest::new(HookClient::CommandLine, HookEvent::SessionStart)
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: HookReply = raw_reply.parse()?;
    reply.context.map_or(Ok(()), |text| print_line(escape_lines(text.trim_end())))
}
