//! The arguments of the commands that export, import, reset, check and evaluate the store, and of `loci groups`. Only definitions;
//! each command is implemented in `commands`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `loci export`
#[derive(Debug, Args)]
pub struct Export {
    /// Write to this file instead of standard output; mode 0600, complete or not at all. A folder for markdown.
    #[arg(long, short, value_name = "PATH", required_if_eq("format", "markdown"))]
    pub output: Option<PathBuf>,
    /// One record per line (jsonl), one JSON document (json), or a folder with a file for each memory (markdown).
    #[arg(long, default_value = "jsonl", value_parser = ["jsonl", "json", "markdown"])]
    pub format: String,
    /// Include the vectors, which can also be recomputed from the texts.
    #[arg(long)]
    pub vectors: bool,
    /// Export the store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME", conflicts_with = "vectors")]
    pub as_of: Option<String>,
    /// Replace an existing file, or the files of an earlier export in a folder.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// `loci dump`
#[derive(Debug, Args)]
pub struct Dump {
    /// Write to this file instead of standard output, replacing it; mode 0600, complete or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `loci reset`
#[derive(Debug, Args)]
pub struct Reset {
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci scan`
#[derive(Debug, Args)]
pub struct Scan {
    /// Replace what is found; cannot be undone.
    #[arg(long)]
    pub redact: bool,
    /// Do not ask for confirmation.
    #[arg(long, short, requires = "redact")]
    pub yes: bool,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Remove the lasting notices, which you have read.
    #[arg(long)]
    pub dismiss: bool,
    /// Build again what is derived from the memories, keep damaged pages as they are, write missing entries of clients again, then check.
    #[arg(long, conflicts_with = "dismiss")]
    pub fix: bool,
    /// Also read every row, vector, sign code and backup.
    #[arg(long, conflicts_with = "dismiss")]
    pub deep: bool,
    /// Check the files without a daemon, which must not run, and write nothing.
    #[arg(long, conflicts_with_all = ["dismiss", "fix", "recover"])]
    pub offline: bool,
    /// Recover a damaged database from the newest whole backup and what can still be read; the damaged files are kept.
    #[arg(long, conflicts_with_all = ["dismiss", "deep"])]
    pub recover: bool,
    /// With --recover: do not ask for confirmation.
    #[arg(long, short, requires = "recover")]
    pub yes: bool,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Returns the name of a model without spaces around it.
fn model_name(name: &str) -> Result<String, &'static str> {
    Some(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned).ok_or("must name a model")
}

/// `loci eval`
#[derive(Debug, Args)]
pub struct Eval {
    /// Number of memories to probe, 0 to 2000.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=2000))]
    pub probes: u16,
    /// Seed of the random choice of memories.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Compare with another value of `retrieval.fusion`, `retrieval.vector_weight` or `retrieval.rrf_k`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Compare embedding models on a copy of the store, for example minilm,multilingual; a model that is missing is downloaded.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "set", value_parser = model_name)]
    pub models: Vec<String>,
    /// Print the metrics as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci groups off` and `loci groups on`
#[derive(Debug, Args)]
pub struct Switch {
    /// Project: id, alias or display name; default: that of this folder.
    pub group: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci groups`
#[derive(Debug, Subcommand)]
pub enum Groups {
    /// List projects with their ids, aliases and number of memories.
    #[command(after_help = "Example\n  loci groups list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change the display name of a project; its id stays.
    #[command(after_help = "Example\n  loci groups rename shop 'the shop'")]
    Rename {
        /// Project: id, alias or display name.
        group: String,
        /// New display name.
        to: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Move all memories of one project to another; the old name becomes an alias. Can be undone.
    #[command(
        after_help = "Example: after moving a folder\n  loci groups merge g_1f0c9a1e77ab01cd shop --yes"
    )]
    Merge {
        /// Project to move from.
        from: String,
        /// Project to move to.
        into: String,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Join a project that has no folder on this machine to that of this folder, after an import or a move. Can be undone.
    #[command(
        after_help = "Example: in the folder, after importing from another machine\n  loci groups join"
    )]
    Join {
        /// Project: display name or id. Default: the only one that may be this one.
        group: Option<String>,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Allow what the .loci.toml of this folder asks for: a name, or an end of its isolation. By itself it can only tighten.
    #[command(after_help = "Example: in the folder\n  loci groups allow")]
    Allow {
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
        /// Decline it: it is not asked again until the file changes.
        #[arg(long, conflicts_with = "yes")]
        decline: bool,
    },
    /// Switch loci off in a project: its sessions neither read nor write.
    #[command(after_help = "Example: in the project of this folder\n  loci groups off")]
    Off(Switch),
    /// Switch loci on in a project, also where only projects with a .loci.toml are served.
    #[command(after_help = "Example\n  loci groups on shop")]
    On(Switch),
    /// Add an alias to a project, or remove one.
    #[command(after_help = "Example: remove it again\n  loci groups alias shop store --remove")]
    Alias {
        /// Project: id, alias or display name.
        group: String,
        /// Alias.
        name: String,
        /// Remove the alias.
        #[arg(long)]
        remove: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
