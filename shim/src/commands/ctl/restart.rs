//! `loci ctl restart`: stops the daemon and starts it again. For agents, only the next call is slower.
//!
//! A configuration with which no daemon would start is refused before the running one is stopped.

use crate::commands::ctl::{start, stop};
use crate::commands::short_lived;
use crate::output::Problem;
use loci_proto::paths::Paths;

/// Stops the daemon if it runs, and starts it.
///
/// # Errors
/// When the configuration has a mistake, or the daemon does not stop or does not start.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    check_configuration().await?;
    stop::stop(paths).await?;
    start::run(paths).await
}

/// Refuses a configuration with which no daemon would start.
///
/// # Errors
/// The mistake, with its file, line and key.
pub async fn check_configuration() -> Result<(), Problem> {
    match short_lived::places().await {
        Ok(_) => Ok(()),
        Err(problem) => {
            Err(Problem::new("Nothing was stopped, because no daemon would start again")
                .because(&problem.message())
                .hint("Correct it and try again; a running daemon goes on as it is"))
        }
    }
}
