//! The command line as `--help` shows it. Only definitions; each command is implemented in the file of its name in `commands`.

pub mod daemon;
pub mod memories;
pub mod store_admin;
pub(crate) mod values;

use clap::{ArgMatches, Parser, Subcommand};
use daemon::{Cleanup, Compact, Config, Ctl, Model};
use memories::{
    Add, Edit, Forget, History, Inspect, List, Pin, Relate, Restore, Search, Stats, Undo,
};
use std::path::PathBuf;
use store_admin::{Doctor, Eval, Export, Groups, Import, Reset};

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

/// Returns whether `--json` was given to the command or one of its subcommands.
#[must_use]
pub fn wants_json(matches: &ArgMatches) -> bool {
    let here = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    here || matches.subcommand().is_some_and(|(_, matches)| wants_json(matches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_valid_and_every_command_has_an_example() {
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
    fn json_is_recognised_on_every_command_that_has_it() {
        let json = |typed: &[&str]| {
            wants_json(&Cli::command().try_get_matches_from(typed).expect("is valid"))
        };
        assert!(json(&["loci", "ctl", "status", "--json"]));
        assert!(json(&["loci", "list", "--json"]));
        assert!(!json(&["loci", "add", "--type", "entity", "--", "--json"]));
    }
}
