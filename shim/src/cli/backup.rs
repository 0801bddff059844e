//! The arguments of `loci backup`. Only definitions; the command is implemented in `commands::backup`.

use clap::{Args, Subcommand};

/// `loci backup`
#[derive(Debug, Subcommand)]
pub enum Backup {
    /// Make a verified backup now, while agents go on working.
    #[command(after_help = "Example\n  loci backup create")]
    Create {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the backups, oldest first.
    #[command(after_help = "Example\n  loci backup list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check the bytes, pages and rows of one backup, or of all.
    #[command(after_help = "Example\n  loci backup verify latest")]
    Verify {
        /// The backup: its id, the beginning of it, or latest.
        #[arg(value_name = "ID")]
        backup: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put a backup in the place of the present memories, which are kept aside; after confirmation.
    #[command(
        after_help = "Example: the newest one\n  loci backup restore\n\nExample: as it was at the end of yesterday\n  loci backup restore --at yesterday"
    )]
    Restore(RestoreBackup),
}

/// `loci backup restore`
#[derive(Debug, Args)]
pub struct RestoreBackup {
    /// The backup: its id, the beginning of it, or latest (the default).
    #[arg(value_name = "ID")]
    pub backup: Option<String>,
    /// The newest backup at this time or before: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME", conflicts_with = "backup")]
    pub at: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
