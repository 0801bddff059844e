//! The command line, as `--help` shows it. Only definitions; what a command does is in the room of its name.

pub mod keeping;
pub mod memories;

use crate::ctl::maintenance::Maintenance;
use crate::lifecycle::{Cleanup, Compact};
use crate::output::Reader;
use clap::{ArgMatches, Parser, Subcommand};
use keeping::{Doctor, Eval, Export, Groups, Import, Reset};
use memories::{
    Add, Edit, Forget, Format, History, Inspect, List, Pin, Relate, Restore, Search, Stats, Undo,
};
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
    /// Find memories by meaning and words.
    #[command(
        after_help = "Example\n  loci search how do we deploy\n\nExample: what is known of somebody, in full\n  loci search Anna --type entity --full\n\nExample: why is it found, and not something else?\n  loci search how do we deploy --explain"
    )]
    Search(Search),
    /// List memories, newest first.
    #[command(
        after_help = "Example: what was stored in this project and elsewhere about the database\n  loci list --all-groups --text database"
    )]
    List(List),
    /// Show everything about one memory: text, relations, versions, and what happened to it.
    #[command(
        visible_alias = "show",
        after_help = "Example: with who changed it\n  loci inspect 5f0c9a1e --log"
    )]
    Inspect(Inspect),
    /// Store a memory.
    #[command(
        after_help = "Example\n  loci add 'The staging server is called heron' --type semantic\n\nExample: from a file\n  loci add - --type procedural < deploy.txt"
    )]
    Add(Add),
    /// Change a memory in place.
    #[command(
        after_help = "Example\n  loci edit 5f0c9a1e --content 'The staging server is called egret'"
    )]
    Edit(Edit),
    /// Keep a memory's confidence from fading.
    #[command(after_help = "Example: let it fade again\n  loci pin 5f0c9a1e --off")]
    Pin(Pin),
    /// Forget a memory, or every memory that fits; it can be restored.
    #[command(
        after_help = "Example: many at once; shows them and asks\n  loci forget --where 'text:\"old server\" type:episodic older:90d'\n\nExample: for good, no trace is left\n  loci forget 5f0c9a1e --hard"
    )]
    Forget(Forget),
    /// Bring back a memory that was forgotten, superseded or compacted.
    #[command(
        after_help = "Example: find it first\n  loci list --status forgotten\n  loci restore 5f0c9a1e"
    )]
    Restore(Restore),
    /// Say what one entity has to do with another.
    #[command(
        after_help = "Example: Anna works at Initech, as a memory says\n  loci relate 5f0c9a1e works_at 77ab01cd --evidence 90aa12ef"
    )]
    Relate(Relate),
    /// Show the store in numbers.
    #[command(after_help = "Example\n  loci stats")]
    Stats(Stats),
    /// List the acts that can be undone, newest first.
    #[command(after_help = "Example: those that changed one memory\n  loci history 5f0c9a1e")]
    History(History),
    /// Take acts back; shows them and asks.
    #[command(after_help = "Example: everything of the last two hours\n  loci undo --since 2h")]
    Undo(Undo),
    /// Serve one agent on standard input and output (agents start this themselves).
    #[command(visible_alias = "serve")]
    #[command(
        after_help = "Example: add it to Claude Code\n  claude mcp add --scope user loci -- loci mcp"
    )]
    Mcp,
    /// Look after the daemon that all sessions share.
    #[command(subcommand, after_help = "Example: who is connected?\n  loci ctl status")]
    Ctl(Ctl),
    /// Look after the embedding model.
    #[command(
        subcommand,
        after_help = "Example: fetch it before it is first needed\n  loci model download"
    )]
    Model(Model),
    /// Write the whole store down as lines of JSON.
    #[command(
        after_help = "Example: into a file that only you can read\n  loci export --output memories.jsonl"
    )]
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
    /// Judge how well this store finds what is in it; changes nothing.
    #[command(
        after_help = "Example\n  loci eval\n\nExample: would another ranking do better here?\n  loci eval --set retrieval.fusion=weighted"
    )]
    Eval(Eval),
    /// Compact old episodes into summaries, and learn facts from what was said again and again; can be undone.
    #[command(after_help = "Example: look first\n  loci compact --dry-run")]
    Compact(Compact),
    /// Forget what has faded and was not used for months; shows it and asks. Can be undone for 30 days.
    #[command(after_help = "Example: look first\n  loci cleanup --dry-run")]
    Cleanup(Cleanup),
    /// Store and find memories in a throw-away home, to see that everything works.
    #[command(
        after_help = "Example: the model is kept for later, the memories are not\n  loci demo"
    )]
    Demo,
    /// Look at the configuration.
    #[command(subcommand, after_help = "Example\n  loci config show")]
    Config(Config),
    /// Print the completions of a shell.
    #[command(
        after_help = "Example: for bash\n  loci completions bash > ~/.local/share/bash-completion/completions/loci"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands into a folder.
    #[command(
        after_help = "Example: so that man finds them\n  loci man --dir ~/.local/share/man/man1"
    )]
    Man {
        /// The folder; it is made if it is not there.
        #[arg(long, value_name = "PATH")]
        dir: Option<PathBuf>,
    },
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
    #[command(after_help = "Example: for a script\n  loci model status --json")]
    Status {
        /// Print JSON, on one line.
        #[arg(long)]
        json: bool,
    },
}

/// For whom to print: `--json`, whichever command has it.
#[must_use]
pub fn reader(given: &ArgMatches) -> Reader {
    let here = given.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    if here {
        Reader::Script
    } else {
        given.subcommand().map_or(Reader::Person, |(_, given)| reader(given))
    }
}

/// A length of time in seconds: a number and s, m, h, d, w or y.
pub(crate) fn duration(text: &str) -> Result<i64, String> {
    let wrong = || {
        format!(
            "{text} is no length of time; write a number and s, m, h, d, w or y, for example 90d"
        )
    };
    let (number, unit) =
        text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        "y" => 365 * 86_400,
        _ => return Err(wrong()),
    };
    let number: u32 = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    Ok(i64::from(number) * seconds)
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

    #[test]
    fn a_text_may_begin_with_a_hyphen_and_flags_stay_flags() {
        for typed in [
            &["loci", "add", "- buy milk", "--type", "semantic"][..],
            &["loci", "add", "--type", "semantic", "- buy milk"],
        ] {
            let Ok(Command::Add(add)) = Cli::try_parse_from(typed).map(|cli| cli.command) else {
                panic!("{typed:?}")
            };
            assert_eq!((add.text.as_str(), add.kind.as_str()), ("- buy milk", "semantic"));
        }
        assert!(Cli::try_parse_from(["loci", "add", "--typo", "semantic", "x"]).is_err());
        assert!(Cli::try_parse_from(["loci", "add", "x"]).is_err());
    }

    #[test]
    fn json_is_seen_on_whichever_command_has_it() {
        use clap::CommandFactory;
        let reader = |typed: &[&str]| {
            super::reader(&Cli::command().try_get_matches_from(typed).expect("is right"))
        };
        assert_eq!(reader(&["loci", "ctl", "status", "--json"]), Reader::Script);
        assert_eq!(reader(&["loci", "list", "--json"]), Reader::Script);
        assert_eq!(reader(&["loci", "add", "--type", "entity", "--", "--json"]), Reader::Person);
    }

    #[test]
    fn a_length_of_time_has_a_unit() {
        assert_eq!(
            ["90d", "2h", "1y", "30s"].map(duration),
            [Ok(7_776_000), Ok(7_200), Ok(31_536_000), Ok(30)]
        );
        for wrong in ["", "90", "d", "-1d", "0d", "1.5h", "2 h", "5é", "99999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
