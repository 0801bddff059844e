//! The arguments of `loci bridge`. Only definitions; the commands are implemented in `commands::bridge`.

use crate::cli::memories::Format;
use clap::{Args, Subcommand};

/// `loci bridge`
#[derive(Debug, Subcommand)]
pub enum Bridge {
    /// Watch the memory files of Claude Code: keep every version, and import what they state.
    #[command(after_help = "Example: asks first\n  loci bridge claude --on")]
    Claude(Switch),
    /// Watch the memory files of Codex.
    #[command(
        after_help = "Example: no longer; versions and memories stay\n  loci bridge codex --off"
    )]
    Codex(Switch),
    /// Print which clients are watched, when their files were last read, and what could not be read.
    #[command(after_help = "Example: read the files first\n  loci bridge status --scan")]
    Status(Status),
    /// List the memory files and how many versions are kept.
    #[command(after_help = "Example\n  loci bridge list")]
    List(Format),
    /// List the versions of a file, or print one.
    #[command(
        after_help = "Example: the end of a path is enough if it is unique\n  loci bridge history shop/memory/MEMORY.md\n\nExample: print version 3\n  loci bridge history shop/memory/MEMORY.md --version 3"
    )]
    History(History),
    /// Bring back a version of a file that the client overwrote or deleted: shows the difference and asks.
    #[command(
        after_help = "Example: the newest version that differs from the file\n  loci bridge restore shop/memory/MEMORY.md\n\nExample: every file that the client deleted\n  loci bridge restore"
    )]
    Restore(Restore),
    /// Write the memories of this project into the client's own memory file: a marked block, after a question.
    #[command(after_help = "Example: preview\n  loci bridge write claude --dry-run")]
    Write(Write),
}

/// `loci bridge claude`
#[derive(Debug, Args)]
pub struct Switch {
    /// Watch the files, from now on.
    #[arg(long, conflicts_with = "off")]
    pub on: bool,
    /// No longer watch them.
    #[arg(long)]
    pub off: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci bridge status`
#[derive(Debug, Args)]
pub struct Status {
    /// Read the files first.
    #[arg(long)]
    pub scan: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci bridge history`
#[derive(Debug, Args)]
pub struct History {
    /// Path of the file, or the end of it.
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Print the text of this version.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub version: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci bridge restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// Path of the file, or the end of it; without it, every file that the client deleted.
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    /// This version; default: the newest that differs from the file.
    #[arg(long, value_name = "N", requires = "file", value_parser = clap::value_parser!(i64).range(1..))]
    pub version: Option<i64>,
    /// Only show what would be written.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci bridge write`
#[derive(Debug, Args)]
pub struct Write {
    /// The client.
    #[arg(value_parser = ["claude"])]
    pub client: String,
    /// Only show what would be written.
    #[arg(long)]
    pub dry_run: bool,
    /// Take the block out again.
    #[arg(long)]
    pub remove: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}
