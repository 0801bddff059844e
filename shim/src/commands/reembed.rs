//! `loci re-embed`: encodes all memories again with the configured model, in the background of the daemon, and shows the progress.

use crate::cli::daemon::Reembed;
use crate::client::call::VerbClient;
use crate::commands::reply_text::to_json;
use crate::output::local_time::date;
use crate::output::progress::Progress;
use crate::output::{Problem, confirm, counted, escape_line, print_line};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::requests::reembed::{
    KeptVectors, ReembedAction, ReembedReply, ReembedRequest, SentTexts,
};
use std::io::IsTerminal;
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
    if action == ReembedAction::Start {
        let state = call(&client, ReembedAction::Status, args.force).await?;
        ask_to_send(&state, args.yes)?;
    }
    let mut reply = call(&client, action, args.force).await?;
    if args.wait && !args.dry_run {
        reply = wait(&client, reply).await?;
    }
    print_line(if args.json { to_json(&reply)? } else { reply_text(&reply, action) })?;
    Ok(Exit::Ok.into())
}

/// Starts a change to the configured model, also if it was cancelled before; returns what it does, for people.
///
/// # Errors
/// The daemon cannot be reached, or the model cannot be used.
pub async fn start() -> Result<String, Problem> {
    let client = VerbClient::of_process()?;
    let reply = call(&client, ReembedAction::Start, false).await?;
    Ok(reply_text(&reply, ReembedAction::Start))
}

/// Asks before the texts of memories are sent to an API, unless that has begun.
fn ask_to_send(state: &ReembedReply, yes: bool) -> Result<(), Problem> {
    let Some(sends) = state.sends.as_ref().filter(|_| state.re_embedding.is_none()) else {
        return Ok(());
    };
    let count = counted(state.to_encode, "memory", "memories");
    let (tokens, host) = (sends.tokens, escape_line(&sends.host));
    let question = format!("Send the texts of {count}, about {tokens} tokens, to {host}?");
    if !yes && !std::io::stdin().is_terminal() {
        return Err(Problem::new(format!("This would send the texts of {count} to {host}, but standard input is not a terminal"))
            .hint("Nothing was sent. Add --yes to send them without asking, or --dry-run to see how much that is")
            .exit(Exit::Usage));
    }
    confirm(&question, yes.into())
}

/// Says what is sent, and for how many days the daily limit makes it last.
fn sends_text(sends: &SentTexts) -> String {
    let SentTexts { host, tokens, daily_tokens } = sends;
    let days = counted(tokens.div_ceil((*daily_tokens).max(1)), "day", "days");
    format!(
        "About {tokens} tokens of text are sent to {}: {days}, with at most {daily_tokens} a day",
        escape_line(host)
    )
}

async fn call(
    client: &VerbClient,
    action: ReembedAction,
    force: bool,
) -> Result<ReembedReply, Problem> {
    client.call(&ReembedRequest { action, force }).await
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
    lines.extend(reply.sends.as_ref().map(sends_text));
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
