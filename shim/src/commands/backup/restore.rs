//! `loci backup restore`: shows what will change, asks, and restores.

use crate::cli::backup::RestoreBackup;
use crate::client::call::VerbClient;
use crate::commands::backup::offline;
use crate::output::local_time::date_time;
use crate::output::{Problem, confirm, counted, escape_line, print_line, print_note};
use crate::speaker::require_person;
use loci_proto::error::Exit;
use loci_proto::requests::backup::{RestoreBackupReply, RestorePlan};
use std::fmt::Write as _;
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// There is no such backup, it is faulty, there is no confirmation, or the restore fails; the present memories are unchanged then.
pub async fn run(args: RestoreBackup) -> Result<ExitCode, Problem> {
    let what = "Only a person may replace the store by a backup";
    require_person(what, "loci backup restore")?;
    let client = VerbClient::of_process()?;
    // One word, so that a value with a minus is no flag.
    let at = args.at.as_ref().map(|at| format!("--at={at}"));
    let mut arguments = vec!["plan"];
    arguments.extend(at.as_deref());
    arguments.extend(args.backup.as_deref());
    let plan: RestorePlan = offline::parse(&offline::run(&arguments).await?)?;
    let text = plan_text(&plan);
    if args.json {
        print_note("Note:", &text);
    } else {
        print_line(&text)?;
    }
    confirm("Restore it?", args.yes.into())?;
    let reply = offline::run_alone(&client, &["restore", &plan.backup.id]).await?;
    if args.json {
        print_line(&reply)?;
    } else {
        print_line(reply_text(&offline::parse(&reply)?))?;
    }
    Ok(Exit::Ok.into())
}

fn plan_text(plan: &RestorePlan) -> String {
    let now = plan.memories_now.map_or_else(
        || "cannot be read".to_owned(),
        |memories| counted(memories, "memory", "memories"),
    );
    format!(
        "The store of now ({now}) is replaced by the backup {} of {} ({}).\nThe files of now are kept aside. What was hard-deleted since stays deleted.",
        escape_line(&plan.backup.id),
        date_time(&plan.backup.created_at),
        counted(plan.backup.memories.unwrap_or_default(), "memory", "memories")
    )
}

fn reply_text(reply: &RestoreBackupReply) -> String {
    let mut again = match reply.forgotten_again {
        0 => String::new(),
        1 => "\n  1 hard-deleted memory was deleted again".to_owned(),
        count => format!("\n  {count} hard-deleted memories were deleted again"),
    };
    match reply.redacted_again {
        0 => {}
        1 => again.push_str("\n  1 secret was replaced again"),
        count => drop(write!(again, "\n  {count} secrets were replaced again")),
    }
    let undo = reply.safety_backup.as_ref().map_or_else(String::new, |id| {
        format!("\n  To go back: loci backup restore {}", escape_line(id))
    });
    format!(
        "Restored {}: {}{again}\n  The files as they were: {}{undo}",
        escape_line(&reply.backup),
        counted(reply.memories, "memory", "memories"),
        escape_line(&reply.quarantine)
    )
}
