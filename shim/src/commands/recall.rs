//! `loci recall --for-hook`: prints what a hook would add to a prompt, or nothing.

use crate::cli::hooks::Recall;
use crate::client::call::VerbClient;
use crate::commands::input::text;
use crate::commands::reply_text::print_json;
use crate::output::{Problem, escape_lines, print_line};
use loci_proto::requests::hook::{HookClient, HookEvent, HookReply, HookRequest};

/// Prints the text.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Recall) -> Result<(), Problem> {
    let given = if args.prompt.is_empty() { "-".to_owned() } else { args.prompt.join(" ") };
    let request = HookRequest {
        prompt: Some(text::read_argument(given)?),
        group: args.group,
        dry_run: true,
        ..HookRequest::new(HookClient::CommandLine, HookEvent::Prompt)
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: HookReply = raw_reply.parse()?;
    reply.context.map_or(Ok(()), |text| print_line(escape_lines(text.trim_end())))
}
