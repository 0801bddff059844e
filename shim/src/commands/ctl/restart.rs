//! `loci ctl restart`: another daemon in the place of this one. Agents notice nothing but a slower call.

use crate::commands::ctl::{start, stop};
use crate::output::Problem;
use loci_proto::paths::Paths;

/// Stops the daemon, if one runs, and starts it.
///
/// # Errors
/// Why it does not end, or does not start.
pub async fn run(paths: &Paths) -> Result<(), Problem> {
    stop::stop(paths).await?;
    start::run(paths).await
}
