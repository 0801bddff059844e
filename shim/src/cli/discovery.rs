//! The arguments of the commands that show what no search asks for. Only definitions; each command is implemented in `commands`.

use crate::cli::memories::{Format, Project};
use clap::Args;

/// `loci wander`
#[derive(Debug, Args)]
pub struct Wander {
    /// Where to begin: an id, at least 4 characters of its start or end, or a query; default: the date chooses a memory.
    #[arg(value_name = "START")]
    pub start: Vec<String>,
    /// Begin with the memory of this date (2026-12-31); default: today.
    #[arg(long, value_name = "DATE", conflicts_with = "start")]
    pub date: Option<String>,
    /// Maximum steps, 1 to 20.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub steps: u8,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
