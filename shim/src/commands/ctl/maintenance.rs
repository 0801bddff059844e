//! `loci ctl maintenance`: how the lifecycle stands, what a run would do, a run now, and pausing it.

use crate::commands::lifecycle;
use crate::output::{Problem, say};
use clap::Subcommand;
use loci_proto::error::Exit;
use loci_proto::requests::maintenance::{MaintenanceAction, MaintenanceReply};
use std::process::ExitCode;

/// What to do about maintenance.
#[derive(Debug, Subcommand)]
pub enum Maintenance {
    /// Show whether it runs by itself, when it ran last and when it will again.
    #[command(after_help = "Example\n  loci ctl maintenance status --json")]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a run would do now.
    #[command(after_help = "Example\n  loci ctl maintenance plan")]
    Plan {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Do it now.
    #[command(after_help = "Example\n  loci ctl maintenance run")]
    Run {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop after the present step, and do nothing more until it is resumed; outlives a restart.
    #[command(after_help = "Example\n  loci ctl maintenance pause")]
    Pause,
    /// Let it go on.
    #[command(after_help = "Example\n  loci ctl maintenance resume")]
    Resume,
}

/// Does what was asked.
///
/// # Errors
/// No daemon, or what it refuses.
pub async fn run(command: Maintenance) -> Result<ExitCode, Problem> {
    let (action, json) = match command {
        Maintenance::Plan { json } => return lifecycle::plan(json).await,
        Maintenance::Run { json } => return lifecycle::run(json).await,
        Maintenance::Status { json } => (MaintenanceAction::Status, json),
        Maintenance::Pause => (MaintenanceAction::Pause, false),
        Maintenance::Resume => (MaintenanceAction::Resume, false),
    };
    let reply = lifecycle::ask(action, false).await?;
    if json {
        say(serde_json::to_string(&reply).map_err(std::io::Error::from)?)?;
    } else {
        say(told(&reply))?;
    }
    Ok(Exit::Ok.into())
}

fn told(reply: &MaintenanceReply) -> String {
    let how = match (reply.paused, reply.enabled) {
        (true, _) => "paused; loci ctl maintenance resume lets it go on",
        (false, true) => "runs by itself when nobody calls",
        (false, false) => "runs only when it is asked to (maintenance.enabled = false)",
    };
    let or = |moment: &Option<String>, without: &str| {
        moment.clone().unwrap_or_else(|| without.to_owned())
    };
    format!(
        "Maintenance {how}\n  last run  {}\n  next run  {}",
        or(&reply.last_run_at, "never"),
        or(&reply.next_run_at, "-")
    )
}
