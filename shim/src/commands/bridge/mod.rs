//! `loci bridge`: watches the memory files of clients, lists and restores their versions, and with `write` puts a block of memories into them.
//!
//! The daemon reads the files; only this command writes them. Not here: what a scan records (the daemon and the engine).

mod folders;
mod look;
mod restore;
mod show;
mod switch;
mod target;
mod write;

use crate::cli::bridge::Bridge;
use crate::client::call::VerbClient;
use crate::output::Problem;
use loci_proto::error::Exit;
use loci_proto::requests::bridge::BridgeClient;
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// No daemon, a refusal, no confirmation, or a file that cannot be written.
pub async fn run(command: Bridge) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    match command {
        Bridge::Claude(args) => switch::run(&client, BridgeClient::Claude, &args).await?,
        Bridge::Codex(args) => switch::run(&client, BridgeClient::Codex, &args).await?,
        Bridge::Status(args) => show::status(&client, args.scan, args.format.json).await?,
        Bridge::List(args) => show::list(&client, args.json).await?,
        Bridge::History(args) => show::history(&client, &args).await?,
        Bridge::Restore(args) => restore::run(&client, &args).await?,
        Bridge::Write(args) => write::run(&client, &args).await?,
    }
    Ok(Exit::Ok.into())
}
