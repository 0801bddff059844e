//! `loci compact`: compacts old episodes into summaries and promotes repeated statements to facts, after showing them.

use crate::cli::daemon::Compact;
use crate::commands::maintenance_run;
use crate::output::{Consent, Problem, confirm};
use loci_proto::error::Exit;
use loci_proto::requests::maintenance::MaintenanceReply;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Shows the due steps, asks for confirmation, and runs them; only shows them with `--dry-run`.
///
/// # Errors
/// The daemon cannot be reached or refuses the request, or the user does not confirm.
pub async fn run(args: Compact) -> Result<ExitCode, Problem> {
    if args.dry_run {
        return maintenance_run::show_plan(args.json).await;
    }
    if !args.yes {
        let MaintenanceReply { plan, paused, .. } = maintenance_run::plan().await?;
        let plan = plan.filter(|plan| !plan.steps.is_empty() && !paused);
        // The daemon says that maintenance is paused, or that nothing is due.
        let Some(plan) = plan else { return maintenance_run::execute(args.json).await };
        maintenance_run::print_plan(&plan, args.json)?;
        if !std::io::stdin().is_terminal() {
            return Err(no_terminal());
        }
        let question = match plan.steps.len() {
            1 => "\nRun this step? loci undo takes it back.".to_owned(),
            count => format!("\nRun these {count} steps? loci undo takes them back."),
        };
        confirm(&question, Consent::Ask)?;
    }
    maintenance_run::execute(args.json).await
}

fn no_terminal() -> Problem {
    Problem::new("This command needs a confirmation, but standard input is not a terminal")
        .hint("Nothing was changed. Add --yes to run the steps without asking, or --dry-run to only print them")
        .exit(Exit::Usage)
}
