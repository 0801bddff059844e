//! The arguments of the commands about this installation: its service, its update and its removal. Only definitions; each command is
//! implemented in `commands`.

use clap::Args;
use std::path::PathBuf;

/// `loci ctl install`
#[derive(Debug, Args)]
pub struct Install {
    /// Stop the service and remove its files, but none that loci did not write.
    #[arg(long)]
    pub uninstall: bool,
    /// Print the files without writing them.
    #[arg(long, conflicts_with = "uninstall")]
    pub print: bool,
}

/// `loci update`
#[derive(Debug, Args)]
pub struct Update {
    /// Print how loci was installed and the command that updates it; uses no network.
    #[arg(long)]
    pub check: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci uninstall`
#[derive(Debug, Args)]
pub struct Uninstall {
    /// Also delete all memories, their backups, the configuration and the model.
    #[arg(long)]
    pub delete_data: bool,
    /// Export all memories to this file first; nothing is removed if that fails.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub export: Option<PathBuf>,
    /// Print what would be removed and what would stay.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}
