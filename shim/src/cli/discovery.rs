//! The arguments of the commands that show what no search asks for. Only definitions; each command is implemented in `commands`.

use crate::cli::memories::{Format, Project};
use crate::cli::values::memory_type_parser;
use clap::Args;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryType;

/// `loci wander`
#[derive(Debug, Args)]
pub struct Wander {
    /// Where to begin: an id, at least 4 characters of its start or end, or a query; default: the date chooses a memory.
    #[arg(value_name = "START")]
    pub start: Vec<String>,
    /// Begin as on this day (2026-12-31, yesterday): each date chooses a memory; default: today.
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

/// `loci topics`
#[derive(Debug, Args)]
pub struct Topics {
    /// Only memories of this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_type_parser())]
    pub kind: Option<MemoryType>,
    /// Only memories stored in this project; default: all that are visible in the project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    /// Number of topics, 1 to 50; default: by the number of memories.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    pub count: Option<u8>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
