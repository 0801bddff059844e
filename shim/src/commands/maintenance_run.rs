//! Runs maintenance, or prints its plan; shared by `loci compact` and `loci ctl maintenance`. The daemon does one step per request.

use crate::client::call::VerbClient;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, counted, escape_line, print_line, print_note};
use loci_proto::error::Exit;
use loci_proto::requests::groups::{GroupsReply, GroupsRequest};
use loci_proto::requests::maintenance::{
    MaintenanceAction, MaintenancePlan, MaintenanceReply, MaintenanceRequest, StepKind, StepReport,
};
use std::collections::HashMap;
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

/// Returns the steps that are due, and whether maintenance is paused.
///
/// # Errors
/// No daemon.
pub async fn plan() -> Result<MaintenanceReply, Problem> {
    send(MaintenanceAction::Plan).await
}

/// Prints a plan: on standard error if standard output is for JSON.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_plan(plan: &MaintenancePlan, json: bool) -> Result<(), Problem> {
    if json {
        print_note("Note:", &plan_text(plan));
        return Ok(());
    }
    print_line(plan_text(plan))
}

/// Runs all due steps, one request per step, and prints each.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request. Earlier steps are not undone.
pub async fn execute(json: bool) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let projects = if json { HashMap::new() } else { project_names(&client).await? };
    let mut done_steps = Vec::new();
    let mut first_request = true;
    loop {
        let reply: MaintenanceReply = client
            .call(&MaintenanceRequest { action: MaintenanceAction::Run, restart: first_request })
            .await?;
        first_request = false;
        if let Some(mut step) = reply.done {
            if !json {
                step.project = projects.get(&step.group).cloned();
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
        print_line(summary(&done_steps))?;
    }
    Ok(Exit::Ok.into())
}

/// Returns how many steps were done, and whether they can be taken back.
fn summary(done: &[StepReport]) -> String {
    if done.is_empty() {
        return "Nothing is due".to_owned();
    }
    let made = done.iter().filter(|step| step.made.is_some()).count();
    let erased: usize =
        done.iter().filter(|step| step.is_purge()).map(|step| step.members.len()).sum();
    let purges = done.iter().filter(|step| step.is_purge()).count();
    let steps = counted(made + purges, "step", "steps");
    let memories = counted(erased, "forgotten memory", "forgotten memories");
    match (made, erased) {
        (_, 0) => format!("{steps} done; loci history lists them, loci undo ACT takes one back"),
        (0, _) => format!("{steps} done; {memories} erased, which cannot be undone"),
        _ => format!(
            "{steps} done; {memories} erased, which cannot be undone; loci history lists the others, loci undo ACT takes one back"
        ),
    }
}

/// Returns the display names of the projects, by id.
async fn project_names(client: &VerbClient) -> Result<HashMap<String, String>, Problem> {
    let reply: GroupsReply = client.call(&GroupsRequest::default()).await?;
    Ok(reply.groups.into_iter().map(|group| (group.id, group.name)).collect())
}

/// Sends one maintenance request.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn send(action: MaintenanceAction) -> Result<MaintenanceReply, Problem> {
    VerbClient::of_process()?.call(&MaintenanceRequest { action, restart: false }).await
}

/// Whether a step is planned or done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Planned,
    Done,
}

fn step_text(step: &StepReport, tense: Tense) -> String {
    let project = step.project.as_deref().unwrap_or(&step.group);
    let (count, group) = (step.members.len(), escape_line(project));
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
        StepKind::Purge => {
            format!(
                "permanent deletion of {} of {group}",
                counted(count, "forgotten memory", "forgotten memories")
            )
        }
    };
    match (&step.made, tense) {
        (Some(id), _) => format!("  {description}: {id}"),
        (None, Tense::Planned) => format!("  {description}{}", texts_below(step)),
        (None, Tense::Done) if step.is_purge() => format!("  {description}"),
        (None, Tense::Done) => format!("  skipped because the memories changed: {description}"),
    }
}

/// Returns the texts of a planned step, one a line, and how many there are besides them.
fn texts_below(step: &StepReport) -> String {
    let mut lines: Vec<String> =
        step.texts.iter().map(|text| format!("\n    {}", escape_line(text))).collect();
    if let (StepKind::Promote | StepKind::Link, Some(fact)) = (step.act, lines.first_mut()) {
        *fact = format!("\n    fact: {}", escape_line(&step.texts[0]));
    }
    let shown = step.texts.len().min(step.members.len());
    match step.members.len() - shown {
        0 => {}
        more => lines.push(format!("\n    … and {more} more")),
    }
    lines.concat()
}

fn plan_text(plan: &MaintenancePlan) -> String {
    if plan.steps.is_empty() {
        return "Nothing is due".to_owned();
    }
    let mut lines: Vec<String> =
        plan.steps.iter().map(|step| step_text(step, Tense::Planned)).collect();
    let is_summary = |step: &&StepReport| step.act == StepKind::Compact;
    let summaries = plan.steps.iter().filter(is_summary).count();
    if plan.purged > 0 {
        let purged = counted(plan.purged, "forgotten memory", "forgotten memories");
        lines.push(format!("{purged} would be erased, which cannot be undone"));
    }
    if plan.compacted + plan.promoted == 0 {
        return lines.join("\n");
    }
    lines.push(format!(
        "{} into {}, {}",
        counted(plan.compacted, "episode", "episodes"),
        counted(summaries, "summary", "summaries"),
        counted(plan.promoted, "fact", "facts")
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn only_what_can_be_taken_back_is_said_to_be() {
        let id = "01953a2b-7c1e-7000-8000-0123456789ab";
        let step = |act: &str, made: Value| -> StepReport {
            let step = json!({"act": act, "cluster": "c", "group": "a", "scope": "group", "members": [id], "made": made, "journal": null});
            serde_json::from_value(step).expect("is a step")
        };
        let (purge, compact) = (step("purge", Value::Null), step("compact", json!(id)));
        assert_eq!(summary(&[]), "Nothing is due");
        assert_eq!(
            summary(std::slice::from_ref(&compact)),
            "1 step done; loci history lists them, loci undo ACT takes one back"
        );
        assert_eq!(
            summary(std::slice::from_ref(&purge)),
            "1 step done; 1 forgotten memory erased, which cannot be undone"
        );
        assert_eq!(
            summary(&[purge, compact]),
            "2 steps done; 1 forgotten memory erased, which cannot be undone; loci history lists the others, loci undo ACT takes one back"
        );
    }
}
