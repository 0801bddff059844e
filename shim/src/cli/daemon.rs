//! The arguments of the commands about the daemon, its configuration, its model and its maintenance. Only definitions; each command is
//! implemented in `commands`.

use crate::cli::installation::Install;
use crate::cli::memories::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `loci top`
#[derive(Debug, Args)]
pub struct Top {
    /// Print one frame and end; the way to use it in a pipe.
    #[arg(long)]
    pub once: bool,
    /// Milliseconds between two looks at the daemon, 100 to 60000.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(100..=60_000))]
    pub interval_ms: u16,
}

/// `loci ctl`
#[derive(Debug, Subcommand)]
pub enum Ctl {
    /// Print the state of the daemon and its sessions, without starting it.
    #[command(after_help = "Example: for a script\n  loci ctl status --json")]
    Status {
        /// Print the daemon's reply as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the connected agents: client, project, pid, calls, age, memory of the shim.
    #[command(after_help = "Example\n  loci ctl ps")]
    Ps {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Start the daemon unless it runs, and wait until it answers; cancels `stop --hold`.
    #[command(after_help = "Example\n  loci ctl start")]
    Start,
    /// Stop the daemon and wait until it has exited; the next call of an agent starts it again.
    #[command(
        after_help = "Example: before moving the database while agents run\n  loci ctl stop --hold"
    )]
    Stop {
        /// Prevent agents from starting it until `loci ctl start`.
        #[arg(long)]
        hold: bool,
    },
    /// Restart the daemon; agents reconnect automatically.
    #[command(after_help = "Example: after an update\n  loci ctl restart")]
    Restart,
    /// Reload config.toml, and print changes that need a restart.
    #[command(after_help = "Example: after editing config.toml\n  loci ctl reload")]
    Reload(Format),
    /// Make the daemon exit after the running calls, without waiting for it.
    #[command(after_help = "Example: before an update\n  loci ctl drain")]
    Drain,
    /// Make a running session incognito: from now on it neither reads nor stores.
    #[command(
        after_help = "Example: by the process id of its shim, which loci ctl ps shows\n  loci ctl incognito 4242"
    )]
    Incognito(Incognito),
    /// Install the daemon as a service of this user (systemd or launchd), which is optional.
    #[command(
        after_help = "Example\n  loci ctl install\n\nExample: print the files without writing them\n  loci ctl install --print"
    )]
    Install(Install),
    /// Control maintenance: compaction and promotion of memories.
    #[command(
        subcommand,
        after_help = "Example: show what a run would do\n  loci ctl maintenance plan"
    )]
    Maintenance(Maintenance),
    /// Print what was sent to an embedding API, by day, and what it costs.
    #[command(
        after_help = "Example\n  loci ctl cost\n\nExample: for a script\n  loci ctl cost --json"
    )]
    Cost {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the daemon's log.
    #[command(after_help = "Example: follow it\n  loci ctl logs --follow")]
    Logs {
        /// Print new lines until interrupted.
        #[arg(long, short)]
        follow: bool,
        /// Number of lines to print.
        #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
        lines: usize,
    },
}

/// `loci ctl incognito`
#[derive(Debug, Args)]
pub struct Incognito {
    /// Session: the beginning of its id (loci ctl status --json), or the process id of its shim (loci ctl ps).
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// End that it is incognito.
    #[arg(long)]
    pub off: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci config`
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print every key with its value and source.
    #[command(after_help = "Example: for a script\n  loci config show --json")]
    Show(Format),
}

/// `loci model`
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Download the model unless it is complete, and verify the SHA-256 of every file.
    #[command(
        after_help = "Example: from local files\n  loci model download --from /media/stick/models"
    )]
    Download {
        /// Copy the files from this folder instead of downloading them.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Change to another model: download it, write it into config.toml, and encode the store again in the background.
    #[command(after_help = "Example: notes in several languages\n  loci model use multilingual")]
    Use {
        /// A value of `embedding.model`: minilm, minilm-fast, multilingual or large.
        name: String,
    },
    /// Print the model and whether its files are complete.
    #[command(after_help = "Example: for a script\n  loci model status --json")]
    Status {
        /// Print JSON, on one line.
        #[arg(long)]
        json: bool,
    },
}

/// `loci compact`
#[derive(Debug, Args)]
pub struct Compact {
    /// Print the steps without running them.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// `loci cleanup`
#[derive(Debug, Args)]
pub struct Cleanup {
    /// Print the memories without forgetting them.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// `loci re-embed`
#[derive(Debug, Args)]
pub struct Reembed {
    /// Print the state and how many memories would be encoded; start nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Encode all memories again also if the vectors in use are of the configured model.
    #[arg(long, conflicts_with_all = ["cancel", "drop_kept"])]
    pub force: bool,
    /// Give it up and stay with the vectors in use; without one in progress, return to the earlier vectors.
    #[arg(long, conflicts_with_all = ["dry_run", "drop_kept"])]
    pub cancel: bool,
    /// Delete the kept vectors of earlier models now, not after 7 days.
    #[arg(long, conflicts_with = "dry_run")]
    pub drop_kept: bool,
    /// Wait until all memories are encoded, and show the progress.
    #[arg(long)]
    pub wait: bool,
    /// Do not ask before texts are sent to an API.
    #[arg(long, short)]
    pub yes: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// `loci ctl maintenance`
#[derive(Debug, Subcommand)]
pub enum Maintenance {
    /// Print whether it runs automatically, and the last and next run.
    #[command(after_help = "Example\n  loci ctl maintenance status --json")]
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the steps that a run would do now.
    #[command(after_help = "Example\n  loci ctl maintenance plan")]
    Plan {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run now.
    #[command(after_help = "Example\n  loci ctl maintenance run")]
    Run {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Pause after the current step until resumed; survives a restart.
    #[command(after_help = "Example\n  loci ctl maintenance pause")]
    Pause,
    /// Resume maintenance.
    #[command(after_help = "Example\n  loci ctl maintenance resume")]
    Resume,
}
