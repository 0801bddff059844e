//! The arguments of the commands about versions of one fact. Only definitions; each command is implemented in `commands`.

use crate::cli::memories::{Format, Project};
use clap::Args;
use loci_proto::group::GroupName;

/// `loci supersede`
#[derive(Debug, Args)]
pub struct Supersede {
    /// The memory that is out of date: its id, or at least 4 characters of its start or end.
    pub old: String,
    /// The memory that replaces it.
    pub new: String,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci diff`
#[derive(Debug, Args)]
pub struct Diff {
    /// From here on: a day (its beginning), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME")]
    pub since: String,
    /// Up to here: a day (its end), a time or a time ago; default: now.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only memories that are, or were, in this project; default: all that are visible in the project of the working directory.
    #[arg(long, value_name = "NAME", conflicts_with = "all_groups")]
    pub group: Option<GroupName>,
    /// Include the memories of every project.
    #[arg(long)]
    pub all_groups: bool,
    /// Maximum changes, the latest first, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci review`
#[derive(Debug, Args)]
pub struct Review {
    /// Maximum pairs.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub limit: u8,
    /// Next page: the number that the previous page printed.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    /// Also pairs of which both were kept.
    #[arg(long)]
    pub all: bool,
    /// Keep both memories of a pair without asking, so that it is not listed again.
    #[arg(long, num_args = 2, value_names = ["ID", "ID"])]
    pub keep: Option<Vec<String>>,
    /// List a pair again of which both were kept.
    #[arg(long, num_args = 2, value_names = ["ID", "ID"], conflicts_with = "keep")]
    pub unkeep: Option<Vec<String>>,
    /// Decline what agents asked to do to memories.
    #[arg(long, num_args = 1.., value_name = "ID", conflicts_with_all = ["keep", "unkeep"])]
    pub decline: Option<Vec<String>>,
    /// Ask about the candidates that were taken from transcripts: accept, edit or reject each.
    #[arg(long, conflicts_with_all = ["all", "keep", "unkeep", "before"])]
    pub candidates: bool,
    /// With --candidates: those of all projects.
    #[arg(long, requires = "candidates", conflicts_with = "group")]
    pub all_groups: bool,
    /// Ask of each memory of the project without a category which one it has.
    #[arg(long, conflicts_with_all = ["all", "keep", "unkeep", "before", "candidates", "all_groups"])]
    pub categories: bool,
    /// List the pairs, candidates or memories without asking what to do.
    #[arg(long)]
    pub list: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
