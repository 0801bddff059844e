//! The command line, as `--help` shows it. Only definitions; what a command does is in the room of its name.

pub mod keeping;

use crate::ctl::maintenance::Maintenance;
use crate::lifecycle::{Cleanup, Compact};
use clap::{Parser, Subcommand};
use keeping::{Doctor, Export, Groups, Import, Reset};
use std::path::PathBuf;

/// Long-term memory for your agents, on your own machine.
#[derive(Debug, Parser)]
#[command(name = "loci", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Example: have an agent use it\n  claude mcp add --scope user loci -- loci mcp\n\nExample: see it work; only the model stays\n  loci demo"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one agent on standard input and output (agents start this themselves).
    #[command(visible_alias = "serve")]
    #[command(after_help = "Example: add it to Claude Code\n  claude mcp add --scope user loci -- loci mcp")]
    Mcp,
    /// Look after the daemon that all sessions share.
    #[command(subcommand, after_help = "Example: who is connected?\n  loci ctl status")]
    Ctl(Ctl),
    /// Look after the embedding model.
    #[command(subcommand, after_help = "Example: fetch it before it is first needed\n  loci model download")]
    Model(Model),
    /// Write the whole store down as lines of JSON.
    #[command(after_help = "Example: into a file that only you can read\n  loci export --output memories.jsonl")]
    Export(Export),
    /// Bring in what `loci export` has written, here or on another machine; twice is as good as once. Can be undone.
    #[command(
        after_help = "Example\n  loci import memories.jsonl\n\nExample: from another machine\n  ssh laptop loci export | loci import -"
    )]
    Import(Import),
    /// Remove everything that is stored, after a backup; asks.
    #[command(after_help = "Example\n  loci reset")]
    Reset(Reset),
    /// Look after the projects that memories belong to.
    #[command(subcommand, after_help = "Example\n  loci groups list")]
    Groups(Groups),
    /// Look whether everything works, and say what to do where it does not.
    #[command(after_help = "Example\n  loci doctor")]
    Doctor(Doctor),
    /// Compact old episodes into summaries, and learn facts from what was said again and again; can be undone.
    #[command(after_help = "Example: look first\n  loci compact --dry-run")]
    Compact(Compact),
    /// Forget what has faded and was not used for months; shows it and asks. Can be undone for 30 days.
    #[command(after_help = "Example: look first\n  loci cleanup --dry-run")]
    Cleanup(Cleanup),
    /// Store and find memories in a throw-away home, to see that everything works.
    #[command(after_help = "Example: the model is kept for later, the memories are not\n  loci demo")]
    Demo,
}

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
    #[command(after_help = "Example: before moving the database, with agents at work\n  loci ctl stop --hold")]
    Stop {
        /// Keep agents from starting it again until `loci ctl start`.
        #[arg(long)]
        hold: bool,
    },
    /// Stop the daemon and start it anew; agents go on by themselves.
    #[command(after_help = "Example: after a change of config.toml\n  loci ctl restart")]
    Restart,
    /// Tell the daemon to end after the calls that are running, and do not wait for it.
    #[command(after_help = "Example: before an update\n  loci ctl drain")]
    Drain,
    /// Look after the lifecycle of memories: compaction and promotion.
    #[command(subcommand, after_help = "Example: what would a run do?\n  loci ctl maintenance plan")]
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

/// What to do about the model.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Fetch the model, unless it is there already; every file is checked against its SHA-256.
    #[command(after_help = "Example: from files that somebody brought along\n  loci model download --from /media/stick/models")]
    Download {
        /// A folder that holds the files; nothing is fetched from the network then.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Show which model there is, and whether it is whole.
    #[command(after_help = "Example\n  loci model status")]
    Status,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_hold_together_and_every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(check);
        }
        let command = Cli::command();
        command.clone().debug_assert();
        check(&command);
    }
}
