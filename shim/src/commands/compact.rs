//! `loci compact`: compacts old episodes into summaries and promotes repeated statements to facts.

use crate::cli::daemon::Compact;
use crate::commands::maintenance_run;
use crate::output::Problem;
use std::process::ExitCode;

/// Runs the due steps, or shows them with `--dry-run`.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn run(args: Compact) -> Result<ExitCode, Problem> {
    if args.dry_run {
        maintenance_run::show_plan(args.json).await
    } else {
        maintenance_run::execute(args.json).await
    }
}
