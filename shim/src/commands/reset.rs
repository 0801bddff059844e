//! `loci reset`: deletes everything that is stored, after a backup and after the user has typed the number of memories.

use crate::cli::store_admin::Reset;
use crate::client::call::VerbClient;
use crate::output::{Problem, confirm_typed, counted, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::reset::{ResetReply, ResetRequest};
use std::io;
use std::process::ExitCode;

/// Asks for confirmation, then deletes.
///
/// # Errors
/// No confirmation, or no daemon.
pub async fn run(args: Reset) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let planned: ResetReply = client.call(&ResetRequest { dry_run: true }).await?;
    let question = format!(
        "This deletes {} and everything that belongs to them, after a backup.",
        counted(planned.memories, "memory", "memories")
    );
    confirm_typed(&question, &planned.memories.to_string(), args.yes.into())?;
    let answer = client
        .call_streamed("/long/reset", &ResetRequest { dry_run: false })
        .await?
        .read_all()
        .await?;
    let reply: ResetReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if args.json {
        print_line(String::from_utf8_lossy(&answer))?;
    } else {
        print_line(format!(
            "Deleted {}. Backup: {}",
            counted(reply.memories, "memory", "memories"),
            reply.backup.unwrap_or_default()
        ))?;
    }
    Ok(Exit::Ok.into())
}
