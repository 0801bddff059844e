//! `loci ctl restart`: stops the daemon and starts it again. For agents, only the next call is slower.

use crate::commands::ctl::{start, stop};
use crate::output::Problem;
use loci_proto::paths::Paths;

/// Stops the daemon if it runs, and starts it.
///
/// # Errors
/// When the daemon does not stop or does not start.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    stop::stop(paths).await?;
    start::run(paths).await
}
