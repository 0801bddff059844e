//! Runs maintenance, or prints its plan; shared by `loci compact` and `loci ctl maintenance`. The daemon does one step per request.

use crate::client::call::VerbClient;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, escape_line, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::maintenance::{
    MaintenanceAction, MaintenancePlan, MaintenanceReply, MaintenanceRequest, StepKind, StepReport,
};
use std::process::ExitCode;

/// Prints the steps that are due.
///
/// # Errors
/// No daemon.
pub async fn show_plan(json: bool) -> Result<ExitCode, Problem> {
    let reply = send(MaintenanceAction::Plan).await?;
    match &reply.plan {
        _ if json => print_line(to_json(&reply)?)?,
        Some(plan) => print_line(plan_text(plan))?,
        None => {}
    }
    Ok(Exit::Ok.into())
}

/// Runs all due steps, one request per step, and prints each.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request. Earlier steps are not undone.
pub async fn execute(json: bool) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let mut done_steps = Vec::new();
    let mut first_request = true;
    loop {
        let reply: MaintenanceReply = client
            .call(
                "maintenance",
                &MaintenanceRequest { action: MaintenanceAction::Run, restart: first_request },
            )
            .await?;
        first_request = false;
        if let Some(step) = reply.done {
            if !json {
                let left = reply.left.unwrap_or_default();
                print_line(format!(
                    "{}{}",
                    step_text(&step, Tense::Done),
                    if left > 0 { format!("  ({left} left)") } else { String::new() }
                ))?;
            }
            done_steps.push(step);
        }
        if reply.left.unwrap_or_default() == 0 {
            break;
        }
    }
    if json {
        print_line(to_json(&serde_json::json!({"done": done_steps}))?)?;
    } else {
        let count = done_steps.iter().filter(|step| step.made.is_some()).count();
        print_line(if done_steps.is_empty() {
            "Nothing is due".to_owned()
        } else {
            format!("{count} steps done; undo one with loci undo ACT")
        })?;
    }
    Ok(Exit::Ok.into())
}

/// Sends one maintenance request.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn send(action: MaintenanceAction) -> Result<MaintenanceReply, Problem> {
    VerbClient::of_process()?
        .call("maintenance", &MaintenanceRequest { action, restart: false })
        .await
}

/// Whether a step is planned or done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Planned,
    Done,
}

fn step_text(step: &StepReport, tense: Tense) -> String {
    let (count, group) = (step.members.len(), escape_line(&step.group));
    let description = match step.act {
        StepKind::Compact => {
            let period = step.week.as_deref().unwrap_or("?");
            // Episodes are grouped by week (`2026-W05`); months and years group summaries.
            let kind = if period.contains('W') { "episodes" } else { "summaries" };
            format!("{count} {kind} of {period} in {group} into a summary")
        }
        StepKind::Promote => {
            format!("{count} episodes in {group} into a fact for {}", step.scope.as_str())
        }
        StepKind::Link => format!("{count} episodes in {group} linked to a known fact"),
    };
    match (&step.made, tense) {
        (Some(id), _) => format!("  {description}: {id}"),
        (None, Tense::Planned) => format!("  {description}"),
        (None, Tense::Done) => format!("  skipped because the memories changed: {description}"),
    }
}

fn plan_text(plan: &MaintenancePlan) -> String {
    if plan.steps.is_empty() {
        return "Nothing is due".to_owned();
    }
    let mut lines: Vec<String> =
        plan.steps.iter().map(|step| step_text(step, Tense::Planned)).collect();
    let summaries = plan.steps.len() - plan.promoted;
    lines.push(format!(
        "{} episodes into {summaries} summaries, {} facts",
        plan.compacted, plan.promoted
    ));
    lines.join("\n")
}
