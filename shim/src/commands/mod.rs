//! The commands of `loci`, one file each. A command sends a request to the daemon and prints a table or a sentence, or with `--json` the
//! reply.
//!
//! Not here: what a verb does (engine), and how the daemon is reached (`client`).

pub mod hook;
pub mod mcp;

mod add;
mod backup;
mod bridge;
mod brief;
mod browse;
mod candidates;
mod categories;
mod cleanup;
mod compact;
mod completions;
mod config;
mod confirm;
mod ctl;
mod demo;
mod diff;
mod doctor;
mod edit;
mod encryption;
mod eval;
mod eval_models;
mod fix;
mod forget;
mod groups;
mod history;
mod how;
mod injected;
mod input;
mod inspect;
mod list;
mod maintenance_run;
mod man;
mod model;
mod move_to;
mod pin;
mod recall;
mod redo;
mod reembed;
mod reject;
mod relate;
mod reply_text;
mod reset;
mod restore;
mod review;
mod row_details;
mod sandbox;
mod scan;
mod search;
mod serve;
mod setup;
mod short_lived;
mod stats;
mod stats_chart;
mod supersede;
mod top;
mod topics;
mod transfer;
mod undo;
mod uninstall;
mod update;
mod view;
mod wander;
mod wishes;

use crate::cli::Command;
use crate::client::call::VerbClient;
use crate::output::{Problem, print_note};
use loci_proto::error::Exit;
use std::process::ExitCode;

/// Runs a command and returns its exit code.
///
/// # Errors
/// The error of the command, with its exit code.
pub async fn run(command: Command) -> Result<ExitCode, Problem> {
    match command {
        Command::Mcp { incognito } => return mcp::run(incognito).await,
        Command::Serve(args) => return serve::run(args).await,
        Command::Hook(args) => return Ok(hook::run(&args.client, &args.event).await),
        Command::Ctl(command) => return ctl::run(command).await,
        Command::Model(command) => return model::run(command).await,
        Command::Compact(args) => return compact::run(args).await,
        Command::Cleanup(args) => return cleanup::run(args).await,
        Command::Reembed(args) => return reembed::run(args).await,
        Command::Demo => return demo::run().await,
        Command::Export(args) => return transfer::export::run(args).await,
        Command::Dump(args) => return transfer::export::dump(args).await,
        Command::Import(args) => return transfer::import::run(args).await,
        Command::Reset(args) => return reset::run(args).await,
        Command::Backup(command) => return backup::run(command).await,
        Command::Encrypt(args) => return encryption::encrypt(args).await,
        Command::Decrypt(args) => return encryption::decrypt(args).await,
        Command::Rekey(args) => return encryption::rekey(args).await,
        Command::Bridge(command) => return bridge::run(command).await,
        Command::Groups(command) => return groups::run(command).await,
        Command::Scan(args) => return scan::run(args).await,
        Command::Setup(args) => return setup::run(&args).await,
        Command::Doctor(args) => return doctor::run(args).await,
        Command::Eval(args) => return eval::run(args).await,
        Command::Config(command) => return config::run(&command).await,
        Command::Update(args) => return update::run(&args),
        Command::Uninstall(args) => return uninstall::run(args).await,
        Command::Completions { shell } => return completions::run(shell),
        Command::Man { dir } => return man::run(dir.as_deref()),
        Command::Top(args) => return top::run(args).await,
        Command::View(args) => return view::run(project_client()?, args).await,
        Command::Browse(args) => return browse::run(project_client()?, args).await,
        Command::Search(args) => search::run(&project_client()?, args).await?,
        Command::Topics(args) => topics::run(&project_client()?, args).await?,
        Command::Wander(args) => wander::run(&project_client()?, args).await?,
        Command::List(args) => list::run(&project_client()?, args).await?,
        Command::Inspect(args) => inspect::run(&project_client()?, args).await?,
        Command::Add(args) => add::run(&project_client()?, args).await?,
        Command::Edit(args) => edit::run(&project_client()?, args).await?,
        Command::Supersede(args) => supersede::run(&project_client()?, args).await?,
        Command::Review(args) => review::run(&project_client()?, args).await?,
        Command::Pin(args) => pin::run(&project_client()?, args).await?,
        Command::Confirm(args) => confirm::run(&project_client()?, args).await?,
        Command::Forget(args) => forget::run(&project_client()?, args).await?,
        Command::Reject(args) => reject::run(&project_client()?, args).await?,
        Command::Fix(args) => fix::run(&project_client()?, args).await?,
        Command::How(args) => how::run(&project_client()?, args).await?,
        Command::Restore(args) => restore::run(&project_client()?, args).await?,
        Command::Move(args) => move_to::run(&project_client()?, args).await?,
        Command::Relate(args) => relate::run(&project_client()?, args).await?,
        Command::Stats(args) => stats::run(&project_client()?, args).await?,
        Command::Injected(args) => injected::run(&project_client()?, args).await?,
        Command::Brief(args) => brief::run(&project_client()?, args).await?,
        Command::Recall(args) => recall::run(&project_client()?, args).await?,
        Command::Diff(args) => diff::run(&project_client()?, args).await?,
        Command::History(args) => history::run(&project_client()?, args).await?,
        Command::Redo(args) => redo::run(&project_client()?, args).await?,
        Command::Undo(args) => undo::run(&project_client()?, args).await?,
    }
    Ok(Exit::Ok.into())
}

/// Returns a client for a command about memories, and prints the warnings about ignored project settings.
fn project_client() -> Result<VerbClient, Problem> {
    let client = VerbClient::of_process()?;
    client.session().warnings.iter().for_each(|warning| print_note("Warning:", warning));
    Ok(client)
}
