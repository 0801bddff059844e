//! `loci re-embed`: encodes all memories again with the configured model, in the background of the daemon, and shows the progress.

use crate::cli::daemon::Reembed;
use crate::client::call::VerbClient;
use crate::commands::reply_text::to_json;
use crate::output::local_time::date;
use crate::output::progress::Progress;
use crate::output::{Problem, counted, escape_line, print_line};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::requests::reembed::{KeptVectors, ReembedAction, ReembedReply, ReembedRequest};
use std::process::ExitCode;
use std::time::Duration;

/// Time between two looks at the progress.
const INTERVAL: Duration = Duration::from_millis(250);

/// Starts, shows or cancels a re-embedding.
///
/// # Errors
/// The daemon cannot be reached or refuses the call; with `--wait`, the model cannot be used.
pub async fn run(args: Reembed) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let action = match &args {
        Reembed { dry_run: true, .. } => ReembedAction::Status,
        Reembed { cancel: true, .. } => ReembedAction::Cancel,
        Reembed { drop_kept: true, .. } => ReembedAction::DropKept,
        _ => ReembedAction::Start,
    };
    let mut reply = call(&client, action, args.force).await?;
    if args.wait && !args.dry_run {
        reply = wait(&client, reply).await?;
    }
    print_line(if args.json { to_json(&reply)? } else { reply_text(&reply, action) })?;
    Ok(Exit::Ok.into())
}

async fn call(
    client: &VerbClient,
    action: ReembedAction,
    force: bool,
) -> Result<ReembedReply, Problem> {
    client.call("reembed", &ReembedRequest { action, force }).await
}

/// Shows the progress until no memories are being encoded.
async fn wait(client: &VerbClient, mut reply: ReembedReply) -> Result<ReembedReply, Problem> {
    let progress = Progress::new("Re-embedding", None);
    while let Some(running) = &reply.re_embedding {
        if running.state == "waiting" {
            let message = format!("the model {} cannot be used", running.to);
            return Err(Failure::new(Code::Conflict, message).hint("Run loci doctor").into());
        }
        progress.message(&running.sentence());
        tokio::time::sleep(INTERVAL).await;
        reply = call(client, ReembedAction::Status, false).await?;
    }
    Ok(reply)
}

fn reply_text(reply: &ReembedReply, action: ReembedAction) -> String {
    let (active, configured) = (escape_line(&reply.active.id), escape_line(&reply.configured.id));
    let mut lines = vec![match &reply.re_embedding {
        Some(running) => format!("{}; {active} is used until then", running.sentence()),
        None if action == ReembedAction::Status && reply.to_encode > 0 => {
            let count = counted(reply.to_encode, "memory", "memories");
            format!("{count} would be encoded by {configured}")
        }
        None => format!("The vectors of {active} are used; no memories are being encoded again"),
    }];
    if reply.declined {
        lines.push(format!("{configured} is configured and was declined; loci re-embed uses it"));
    }
    lines.extend(reply.kept.iter().map(kept_text));
    lines.join("\n")
}

fn kept_text(kept: &KeptVectors) -> String {
    let kind = if kept.complete { "kept" } else { "incomplete, kept" };
    let day = date(&kept.kept_until);
    format!("Vectors of {} are {kind} until {day}", escape_line(&kept.set))
}
