//! The arguments of the commands about the daemon, its configuration, its model and its maintenance. Only definitions.

use crate::cli::memories::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What to do about the daemon.
#[derive(Debug, Subcommand)]
pub enum Ctl {
    /// Show the daemon's state and its sessions; starts nothing.
    #[command(after_help = "Example: for a script\n  loci ctl status --json")]
    Status {
        /// Print the daemon's own JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the connected agents: client, project, process, calls, age, memory of the shim.
    #[command(after_help = "Example\n  loci ctl ps")]
    Ps {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Start the daemon, unless it runs, and wait until it answers; ends a hold.
    #[command(after_help = "Example\n  loci ctl start")]
    Start,
    /// Stop the daemon and wait until it is gone; the next call of an agent starts it again.
    #[command(
        after_help = "Example: before moving the database, with agents at work\n  loci ctl stop --hold"
    )]
    Stop {
        /// Keep agents from starting it again until `loci ctl start`.
        #[arg(long)]
        hold: bool,
    },
    /// Stop the daemon and start it anew; agents go on by themselves.
    #[command(after_help = "Example: after an update\n  loci ctl restart")]
    Restart,
    /// Have the daemon read config.toml again; tells which changes wait for a restart.
    #[command(after_help = "Example: after a change of config.toml\n  loci ctl reload")]
    Reload(Format),
    /// Tell the daemon to end after the calls that are running, and do not wait for it.
    #[command(after_help = "Example: before an update\n  loci ctl drain")]
    Drain,
    /// Look after the lifecycle of memories: compaction and promotion.
    #[command(
        subcommand,
        after_help = "Example: what would a run do?\n  loci ctl maintenance plan"
    )]
    Maintenance(Maintenance),
    /// Show the daemon's log.
    #[command(after_help = "Example: watch it\n  loci ctl logs --follow")]
    Logs {
        /// Go on as the log grows, until interrupted.
        #[arg(long, short)]
        follow: bool,
        /// How many lines to show.
        #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
        lines: usize,
    },
}

/// What to do about the configuration.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Show every key, its value, and where that comes from.
    #[command(after_help = "Example: for a script\n  loci config show --json")]
    Show(Format),
}

/// What to do about the model.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Fetch the model, unless it is there already; every file is checked against its SHA-256.
    #[command(
        after_help = "Example: from files that somebody brought along\n  loci model download --from /media/stick/models"
    )]
    Download {
        /// A folder that holds the files; nothing is fetched from the network then.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Show which model there is, and whether it is whole.
    #[command(after_help = "Example\n  loci model status")]
    Status,
}

/// `loci compact`
#[derive(Debug, Args)]
pub struct Compact {
    /// Only show what would be done.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON, one document.
    #[arg(long)]
    pub json: bool,
}

/// `loci cleanup`
#[derive(Debug, Args)]
pub struct Cleanup {
    /// Only show what would be forgotten.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON, one document.
    #[arg(long)]
    pub json: bool,
}

/// What to do about maintenance.
#[derive(Debug, Subcommand)]
pub enum Maintenance {
    /// Show whether it runs by itself, when it ran last and when it will again.
    #[command(after_help = "Example\n  loci ctl maintenance status --json")]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a run would do now.
    #[command(after_help = "Example\n  loci ctl maintenance plan")]
    Plan {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Do it now.
    #[command(after_help = "Example\n  loci ctl maintenance run")]
    Run {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop after the present step, and do nothing more until it is resumed; outlives a restart.
    #[command(after_help = "Example\n  loci ctl maintenance pause")]
    Pause,
    /// Let it go on.
    #[command(after_help = "Example\n  loci ctl maintenance resume")]
    Resume,
}
