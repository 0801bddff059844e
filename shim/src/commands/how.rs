//! `loci how`: lists what is known of a tool. Candidates come last, marked.

use crate::cli::lessons::How;
use crate::client::call::VerbClient;
use crate::commands::input::argument;
use crate::commands::search::whole_results;
use crate::output::{Problem, escape_line, print_line};
use loci_proto::bounded_numbers::TokenBudget;
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest};
use loci_proto::requests::recall::{RecallReply, RecallRequest};

/// Memories of one status that are printed.
const MAX_OF_STATUS: usize = 20;

/// Lists the memories.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: How) -> Result<(), Problem> {
    if args.tool.trim().is_empty() {
        return Err(Problem::new("TOOL is empty").hint("Name the program: loci how pnpm"));
    }
    let mut ids = Vec::new();
    for status in ["active", "rejected", "candidate"] {
        let request = ListRequest {
            tool: Some(args.tool.clone()),
            status: Some(status.to_owned()),
            sort: ListOrder::Used,
            limit: Some(MAX_OF_STATUS),
            group: args.project.group.clone(),
            ..ListRequest::default()
        };
        let reply: ListReply = client.call(&request).await?;
        ids.extend(reply.memories.into_iter().map(|memory| memory.id));
    }
    if ids.is_empty() && !args.format.json {
        let tool = escape_line(&args.tool);
        return print_line(format!(
            "Nothing is known of {tool}. loci search {tool} looks further."
        ));
    }
    if ids.is_empty() {
        return print_line(serde_json::to_string(&RecallReply::default()).unwrap_or_default());
    }
    let request = RecallRequest {
        ids: Some(ids),
        dry_run: true,
        token_budget: Some(argument("token_budget", TokenBudget::new(1_000_000))?),
        group: args.project.group.clone(),
        ..RecallRequest::default()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return crate::commands::reply_text::print_json(&raw_reply);
    }
    let reply: RecallReply = raw_reply.parse()?;
    print_line(whole_results(client, &args.tool, &reply.results).await?.trim_end())
}
