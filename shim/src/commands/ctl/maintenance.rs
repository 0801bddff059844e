//! `loci ctl maintenance`: prints the state and the plan of maintenance, runs it, pauses and resumes it.

use crate::cli::daemon::Maintenance;
use crate::commands::maintenance_run;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::maintenance::{MaintenanceAction, MaintenanceReply};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn run(command: Maintenance) -> Result<ExitCode, Problem> {
    let (action, json) = match command {
        Maintenance::Plan { json } => return maintenance_run::show_plan(json).await,
        Maintenance::Run { json } => return maintenance_run::execute(json).await,
        Maintenance::Status { json } => (MaintenanceAction::Status, json),
        Maintenance::Pause => (MaintenanceAction::Pause, false),
        Maintenance::Resume => (MaintenanceAction::Resume, false),
    };
    let reply = maintenance_run::send(action).await?;
    if json {
        print_line(to_json(&reply)?)?;
    } else {
        print_line(status_text(&reply))?;
    }
    Ok(Exit::Ok.into())
}

fn status_text(reply: &MaintenanceReply) -> String {
    let state = match (reply.paused, reply.enabled) {
        (true, _) => "is paused; resume it: loci ctl maintenance resume",
        (false, true) => "runs automatically while the daemon is idle",
        (false, false) if reply.idle_minutes.is_some() => "runs on request and when idle",
        (false, false) => "runs only on request (maintenance.enabled = false)",
    };
    let idle = match reply.idle_minutes.filter(|_| !reply.paused) {
        Some(minutes) => format!("\n  when idle {minutes} min without a call"),
        None => String::new(),
    };
    let time_or =
        |time: &Option<String>, default: &str| time.clone().unwrap_or_else(|| default.to_owned());
    format!(
        "Maintenance {state}\n  last run  {}\n  next run  {}{idle}",
        time_or(&reply.last_run_at, "never"),
        time_or(&reply.next_run_at, "-")
    )
}
