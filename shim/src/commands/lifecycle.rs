//! `loci compact` and `loci cleanup`: old episodes become summaries and facts, what has faded is put aside. The daemon does it, a step
//! at a time; this side shows what is done.

use crate::client::call::Door;
use crate::commands::input::memory_id::short;
use crate::output::{Problem, Screen, confirm, plain, say, table_on};
use clap::Args;
use loci_proto::error::Exit;
use loci_proto::requests::cleanup::{CleanupCandidate, CleanupReply, CleanupRequest};
use loci_proto::requests::maintenance::{
    MaintenanceAction, MaintenancePlan, MaintenanceReply, MaintenanceRequest, StepKind, StepReport,
};
use std::process::ExitCode;

/// `loci compact`
#[derive(Debug, Args)]
pub struct Compact {
    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON, one document.
    #[arg(long)]
    json: bool,
}

/// `loci cleanup`
#[derive(Debug, Args)]
pub struct Cleanup {
    /// Only show what would be forgotten.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON, one document.
    #[arg(long)]
    json: bool,
}

/// Memories of a list that are shown to a person; `--json` has all.
const SHOWN: usize = 50;

/// Compacts and promotes what is due.
///
/// # Errors
/// No daemon, or what it refuses.
pub async fn compact(given: Compact) -> Result<ExitCode, Problem> {
    if given.dry_run { plan(given.json).await } else { run(given.json).await }
}

/// Shows what a run would do.
///
/// # Errors
/// No daemon.
pub async fn plan(json: bool) -> Result<ExitCode, Problem> {
    let reply = ask(MaintenanceAction::Plan, false).await?;
    match &reply.plan {
        _ if json => say(text_of(&reply)?)?,
        Some(plan) => say(told(plan))?,
        None => {}
    }
    Ok(Exit::Ok.into())
}

/// Begins a run and goes through it.
///
/// # Errors
/// No daemon, or what it refuses; what was done until then is done.
pub async fn run(json: bool) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let (mut done, mut anew) = (Vec::new(), true);
    loop {
        let reply: MaintenanceReply = door
            .call("maintenance", &MaintenanceRequest { action: MaintenanceAction::Run, anew })
            .await?;
        anew = false;
        if let Some(deed) = reply.done {
            if !json {
                let left = reply.left.unwrap_or_default();
                say(format!(
                    "{}{}",
                    line(&deed, Told::Done),
                    if left > 0 { format!("  ({left} to go)") } else { String::new() }
                ))?;
            }
            done.push(deed);
        }
        if reply.left.unwrap_or_default() == 0 {
            break;
        }
    }
    if json {
        say(text_of(&serde_json::json!({"done": done}))?)?;
    } else {
        let made = done.iter().filter(|deed| deed.made.is_some()).count();
        say(if done.is_empty() {
            "Nothing is due".to_owned()
        } else {
            format!("{made} done; loci undo takes each back")
        })?;
    }
    Ok(Exit::Ok.into())
}

/// Asks for one thing about maintenance.
///
/// # Errors
/// No daemon, or what it refuses.
pub async fn ask(action: MaintenanceAction, anew: bool) -> Result<MaintenanceReply, Problem> {
    Door::of_process()?.call("maintenance", &MaintenanceRequest { action, anew }).await
}

/// Puts aside what has faded, after having shown it and asked.
///
/// # Errors
/// No daemon, what it refuses, or nobody to ask.
pub async fn cleanup(given: Cleanup) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let listed: CleanupReply =
        door.call("cleanup", &CleanupRequest { dry_run: true, at: None }).await?;
    if given.dry_run || listed.memories.is_empty() {
        say(if given.json { text_of(&listed)? } else { faded(&listed) })?;
        return Ok(Exit::Ok.into());
    }
    if !given.json {
        say(faded(&listed))?;
    }
    confirm(&format!("Forget these {} memories?", listed.memories.len()), given.yes.into())?;
    let done: CleanupReply =
        door.call("cleanup", &CleanupRequest { dry_run: false, at: Some(listed.at) }).await?;
    say(match done.act {
        _ if given.json => text_of(&done)?,
        Some(act) => format!(
            "{} forgotten; loci undo {act} brings them back within 30 days",
            done.memories.len()
        ),
        None => "Nothing was done: all of them were used or changed meanwhile".to_owned(),
    })?;
    Ok(Exit::Ok.into())
}

fn faded(reply: &CleanupReply) -> String {
    if reply.memories.is_empty() {
        return "Nothing has faded that far".to_owned();
    }
    let row = |memory: &CleanupCandidate| {
        let used = memory.used_at.get(..10).unwrap_or(&memory.used_at);
        vec![
            short(memory.id.as_str()),
            format!("{:.3}", memory.confidence.get()),
            used.to_owned(),
            plain(&memory.preview),
        ]
    };
    let head = ["ID", "CONFIDENCE", "USED", "TEXT"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(reply.memories.iter().take(SHOWN).map(row)).collect();
    let more = reply.memories.len().saturating_sub(SHOWN);
    let rest =
        if more > 0 { format!("  … and {more} more; --json shows all") } else { String::new() };
    (table_on(Screen::of_stdout(), &rows) + &rest).trim_end().to_owned()
}

/// Whether a step lies ahead or behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Planned,
    Done,
}

fn line(deed: &StepReport, told: Told) -> String {
    let (count, group) = (deed.members.len(), plain(&deed.group));
    let what = match deed.act {
        StepKind::Compact => {
            let period = deed.week.as_deref().unwrap_or("?");
            // A week is written with a W; what is summed up with a month or a year are summaries.
            let named = if period.contains('W') { "episodes" } else { "summaries" };
            format!("{count} {named} of {period} in {group} into a summary")
        }
        StepKind::Promote => {
            format!("{count} episodes in {group} into a fact for {}", deed.scope.as_str())
        }
        StepKind::Link => format!("{count} episodes in {group} linked with a fact that is known"),
    };
    match (&deed.made, told) {
        (Some(id), _) => format!("  {what}: {id}"),
        (None, Told::Planned) => format!("  {what}"),
        (None, Told::Done) => format!("  left out, changed meanwhile: {what}"),
    }
}

fn told(plan: &MaintenancePlan) -> String {
    if plan.steps.is_empty() {
        return "Nothing is due".to_owned();
    }
    let mut lines: Vec<String> = plan.steps.iter().map(|deed| line(deed, Told::Planned)).collect();
    let summaries = plan.steps.len() - plan.promoted;
    lines.push(format!(
        "{} episodes into {summaries} summaries, {} facts",
        plan.compacted, plan.promoted
    ));
    lines.join("\n")
}

fn text_of(value: &impl serde::Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|error| Problem::from(std::io::Error::from(error)))
}
