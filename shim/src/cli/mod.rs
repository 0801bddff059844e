//! The command line as `--help` shows it. Only definitions; each command is implemented in the file of its name in `commands`.

pub mod backup;
pub mod bridge;
pub mod daemon;
pub mod discovery;
pub mod encryption;
pub mod foreign_commands;
pub mod hooks;
pub mod import;
pub mod installation;
pub mod lessons;
pub mod memories;
pub mod serve;
pub mod setup;
pub mod store_admin;
pub(crate) mod values;
pub mod versions;
pub mod view;

use backup::Backup;
use bridge::Bridge;
use clap::{ArgMatches, Parser, Subcommand};
use daemon::{Cleanup, Compact, Config, Ctl, Model, Reembed, Top};
use discovery::{Topics, Wander};
use encryption::{Convert, Encrypt};
use hooks::{Brief, Hook, Injected, Recall};
use import::Import;
use installation::{Uninstall, Update};
use lessons::{Fix, How, Reject};
use memories::{
    Add, Browse, Confirm, Edit, Forget, History, Inspect, List, Move, Pin, Redo, Relate, Restore,
    Search, Stats, Undo,
};
use serve::Serve;
use setup::Setup;
use std::path::PathBuf;
use store_admin::{Doctor, Dump, Eval, Export, Groups, Reset, Scan};
use versions::{Diff, Review, Supersede};
use view::View;

/// Long-term memory for your agents, on your own machine.
#[derive(Debug, Parser)]
#[command(name = "loci", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Example: set up the clients that are installed\n  loci setup\n\nExample: try it; only the downloaded model is kept\n  loci demo"
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `loci`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find memories by meaning and words.
    #[command(
        after_help = "Example\n  loci search how do we deploy\n\nExample: the query from standard input\n  loci search - < question.txt\n\nExample: everything about a person, complete\n  loci search Anna --type entity --full\n\nExample: explain the ranking\n  loci search how do we deploy --explain"
    )]
    Search(Search),
    /// List memories, newest first.
    #[command(
        after_help = "Example: memories of all projects that mention the database\n  loci list --all-groups --text database"
    )]
    List(List),
    /// Browse memories in a full-screen terminal: search as you type, read, edit, pin, forget, undo, follow relations.
    #[command(
        after_help = "Press ? for the keys.\n\nExample\n  loci browse\n\nExample: procedures of every project\n  loci browse --all-groups --type procedural deploy"
    )]
    Browse(Browse),
    /// Open the memories in the browser: search, read, correct, review, undo. Runs until interrupted.
    #[command(
        after_help = "Example\n  loci view\n\nExample: on a machine without a browser\n  loci view --no-open --port 7434"
    )]
    View(View),
    /// List what the memories are about: groups by meaning, each with its words, its size and an example.
    #[command(
        after_help = "Example\n  loci topics\n\nExample: five topics of the workflows\n  loci topics --type procedural --count 5"
    )]
    Topics(Topics),
    /// Walk from memory to memory along what links them: people and projects, the day, the place in the store.
    #[command(
        after_help = "Example: the walk of today\n  loci wander\n\nExample: from the best match of a query\n  loci wander how do we deploy"
    )]
    Wander(Wander),
    /// Print everything about one memory: text, relations, versions and log.
    #[command(
        visible_alias = "show",
        after_help = "Example: with its log\n  loci inspect 5f0c9a1e --log"
    )]
    Inspect(Inspect),
    /// Store a memory.
    #[command(
        after_help = "Example\n  loci add 'The staging server is called heron' --type semantic\n\nExample: from a file\n  loci add - --type procedural < deploy.txt"
    )]
    Add(Add),
    /// Change a memory in place.
    #[command(
        after_help = "Example\n  loci edit 5f0c9a1e --content 'The staging server is called egret'\n\nExample: it replaces another memory\n  loci edit 5f0c9a1e --supersedes 77ab01cd"
    )]
    Edit(Edit),
    /// Mark a memory as replaced by another one that is stored already; can be undone.
    #[command(
        after_help = "Example: 77ab01cd is the new value\n  loci supersede 5f0c9a1e 77ab01cd"
    )]
    Supersede(Supersede),
    /// Review pairs of memories that look like two versions of one fact: keep both, supersede or forget.
    #[command(
        after_help = "Example: asks about each pair\n  loci review\n\nExample: keep both, without a terminal\n  loci review --keep 5f0c9a1e 77ab01cd"
    )]
    Review(Review),
    /// Stop the confidence of a memory from fading.
    #[command(after_help = "Example: let it fade again\n  loci pin 5f0c9a1e --off")]
    Pin(Pin),
    /// Confirm memories that you have read: they are trusted as your own, and flags are cleared.
    #[command(
        after_help = "Example: read it first\n  loci inspect 5f0c9a1e\n  loci confirm 5f0c9a1e\n\nExample: after an import of your own memories\n  loci confirm --imported"
    )]
    Confirm(Confirm),
    /// Forget one memory, or every matching memory; can be restored.
    #[command(
        after_help = "Example: several at once, after confirmation\n  loci forget --where 'text:\"old server\" type:episodic older:90d'\n\nExample: erase every trace\n  loci forget 5f0c9a1e --hard"
    )]
    Forget(Forget),
    /// Mark a memory as an attempt that was given up; recalls show it with the reason.
    #[command(after_help = "Example\n  loci reject 5f0c9a1e --why 'the cache grew without bound'")]
    Reject(Reject),
    /// Find what mended an error message.
    #[command(
        after_help = "Example\n  loci fix \"TypeError: x is not a function\"\n\nExample: from a program\n  pnpm test 2>&1 | loci fix -"
    )]
    Fix(Fix),
    /// List what is known of a tool: commands that worked, errors and what mended them.
    #[command(after_help = "Example\n  loci how pnpm")]
    How(How),
    /// Restore a forgotten, superseded or compacted memory.
    #[command(
        after_help = "Example: find it first\n  loci list --status forgotten\n  loci restore 5f0c9a1e"
    )]
    Restore(Restore),
    /// Move memories to another project; can be undone.
    #[command(
        after_help = "Example\n  loci move 5f0c9a1e 77ab01cd --to shop\n\nExample: to a project that does not exist yet\n  loci move 5f0c9a1e --to garden --create"
    )]
    Move(Move),
    /// Store a relation between two entities.
    #[command(
        after_help = "Example: Anna works at Initech, supported by a memory\n  loci relate 5f0c9a1e works_at 77ab01cd --evidence 90aa12ef"
    )]
    Relate(Relate),
    /// Print statistics of the store.
    #[command(
        after_help = "Example\n  loci stats\n\nExample: growth and use over time\n  loci stats --chart"
    )]
    Stats(Stats),
    /// Watch the running daemon: sessions, calls, latencies, queues, injections, growth; q quits.
    #[command(
        after_help = "Example\n  loci top\n\nExample: one frame, in a pipe\n  loci top --once"
    )]
    Top(Top),
    /// List how what is known has changed since a time.
    #[command(
        after_help = "Example\n  loci diff --since 7d\n\nExample: one week of a project\n  loci diff --since 2025-11-01 --until 2025-11-07 --group shop"
    )]
    Diff(Diff),
    /// List the acts that can be undone, newest first.
    #[command(after_help = "Example: those that changed one memory\n  loci history 5f0c9a1e")]
    History(History),
    /// Undo acts after confirmation.
    #[command(
        after_help = "A plain store of an agent is no act: take it back with loci forget, or with its whole session.\n\nExample: everything of the last two hours\n  loci undo --since 2h\n\nExample: everything that one session did\n  loci undo --session 0199c2"
    )]
    Undo(Undo),
    /// Take back the last undo, or the undo of an act, after confirmation.
    #[command(
        after_help = "Example: the last undo\n  loci redo\n\nExample: one act that was undone\n  loci redo 12"
    )]
    Redo(Redo),
    /// Serve one agent on standard input and output (agents start this themselves).
    #[command(
        after_help = "Example: write it into the configuration of Claude Code\n  loci setup claude"
    )]
    Mcp {
        /// Neither read nor write nor record anything in this session; `LOCI_INCOGNITO=1` does the same.
        #[arg(long)]
        incognito: bool,
    },
    /// Serve clients that speak only HTTP, and manage their tokens.
    #[command(
        after_help = "Example\n  loci serve --http\n\nExample: the token that a client sends\n  loci serve token show default\n\nTo serve them whenever the daemon runs, set server.transport = \"http\" in config.toml."
    )]
    Serve(Serve),
    /// Set up clients to use loci: shows what changes in their configuration, and asks.
    #[command(
        after_help = "Example: every client that is installed\n  loci setup\n\nExample: preview\n  loci setup claude --dry-run\n\nExample: take it out again\n  loci setup claude --remove"
    )]
    Setup(Setup),
    /// Answer an event of a client's session (clients run this themselves).
    #[command(
        after_help = "Reads the event as JSON from standard input and prints the answer as JSON. It never fails.\n\nExample: what Claude Code runs with each prompt\n  loci hook claude prompt"
    )]
    Hook(Hook),
    /// List what hooks delivered to clients, and what they withheld and why.
    #[command(after_help = "Example: one session\n  loci injected 8b1f1d0e")]
    Injected(Injected),
    /// Print the brief that a hook delivers at the beginning of a session.
    #[command(after_help = "Example\n  loci brief")]
    Brief(Brief),
    /// Print what a hook would add to a prompt, or nothing.
    #[command(
        after_help = "Example\n  loci recall --for-hook 'how do we deploy?'\n\nExample: from standard input\n  loci recall --for-hook < prompt.txt"
    )]
    Recall(Recall),
    /// Control the daemon that all sessions share.
    #[command(subcommand, after_help = "Example: list connected agents\n  loci ctl status")]
    Ctl(Ctl),
    /// Download or check the embedding model.
    #[command(
        subcommand,
        after_help = "Example: download it before the first use\n  loci model download"
    )]
    Model(Model),
    /// Export the whole store as lines of JSON.
    #[command(
        after_help = "Example: to a private file\n  loci export --output memories.jsonl\n\nExample: to read them as Markdown\n  loci export --format markdown --output memories"
    )]
    Export(Export),
    /// Write the memories as sorted lines for a repository of git.
    #[command(
        after_help = "Example: keep the history of your memories\n  loci dump --output memories.dump\n  git commit memories.dump\n\nExample: merge another machine's into this store\n  loci import --from dump memories.dump --mine"
    )]
    Dump(Dump),
    /// Import a file of `loci export` or `loci dump`, or the memories of another program. Idempotent; can be undone.
    #[command(
        after_help = "Example\n  loci import memories.jsonl\n\nExample: from another machine\n  ssh laptop loci export | loci import -\n\nExample: what Claude Code remembers, after a preview\n  loci import --from claude-memory"
    )]
    Import(Import),
    /// Delete everything that is stored, after a backup and confirmation.
    #[command(after_help = "Example\n  loci reset")]
    Reset(Reset),
    /// Make, list, verify and restore backups.
    #[command(subcommand, after_help = "Example\n  loci backup list")]
    Backup(Backup),
    /// Encrypt the memories and their backups on this disk, after confirmation; for builds with encryption.
    #[command(
        after_help = "Example\n  loci encrypt\n\nExample: the key, to be kept elsewhere\n  loci encrypt --show-key"
    )]
    Encrypt(Encrypt),
    /// Decrypt the memories and their backups, after confirmation.
    #[command(after_help = "Example\n  loci decrypt")]
    Decrypt(Convert),
    /// Encrypt the memories and their backups with a new key, after confirmation.
    #[command(after_help = "Example\n  loci rekey")]
    Rekey(Convert),
    /// List, rename, merge and alias projects, and switch loci off or on in them.
    #[command(subcommand, after_help = "Example\n  loci groups list")]
    Groups(Groups),
    /// Watch the memory files of Claude Code and Codex: keep every version, restore them, import what they state.
    #[command(
        subcommand,
        after_help = "Example: switch it on\n  loci bridge claude --on\n\nExample: bring back what the client deleted\n  loci bridge restore"
    )]
    Bridge(Bridge),
    /// Find secrets in everything that is stored; never prints a value.
    #[command(
        after_help = "Example\n  loci scan\n\nExample: replace them by [SECRET:kind]; cannot be undone\n  loci scan --redact"
    )]
    Scan(Scan),
    /// Check the installation and print how to fix problems.
    #[command(
        after_help = "Example\n  loci doctor\n\nExample: a database that is damaged\n  loci doctor --recover\n\nExample: without starting the daemon\n  loci doctor --offline"
    )]
    Doctor(Doctor),
    /// Measure how well this store finds its memories; changes nothing in it.
    #[command(
        after_help = "Example\n  loci eval\n\nExample: compare with another ranking\n  loci eval --set retrieval.fusion=weighted"
    )]
    Eval(Eval),
    /// Compact old episodes into summaries and promote repeated statements to facts, after confirmation; can be undone.
    #[command(after_help = "Example: preview\n  loci compact --dry-run")]
    Compact(Compact),
    /// Forget faded memories that were not used for months, after confirmation. Can be undone for 30 days.
    #[command(after_help = "Example: preview\n  loci cleanup --dry-run")]
    Cleanup(Cleanup),
    /// Encode all memories again with the configured model, in the background.
    #[command(
        name = "re-embed",
        after_help = "Example: preview\n  loci re-embed --dry-run\n\nExample: start or resume it, and wait\n  loci re-embed --wait\n\nExample: return to the earlier model\n  loci re-embed --cancel"
    )]
    Reembed(Reembed),
    /// Store and find memories in a temporary home, to check that everything works.
    #[command(after_help = "Example: keeps the model, removes the memories\n  loci demo")]
    Demo,
    /// Print the configuration.
    #[command(subcommand, after_help = "Example\n  loci config show")]
    Config(Config),
    /// Print how loci was installed, and the command that updates it.
    #[command(after_help = "Example\n  loci update --check")]
    Update(Update),
    /// Remove loci from this machine except for its programs: clients' entries, services, runtime files. Keeps the memories.
    #[command(
        after_help = "Example: what would be removed\n  loci uninstall --dry-run\n\nExample: the memories too, after an export\n  loci uninstall --delete-data --export memories.jsonl"
    )]
    Uninstall(Uninstall),
    /// Print the completion script of a shell.
    #[command(
        after_help = "Example: for bash\n  loci completions bash > ~/.local/share/bash-completion/completions/loci"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder.
    #[command(after_help = "Example: install them\n  loci man --dir ~/.local/share/man/man1")]
    Man {
        /// Folder for the pages; created if missing.
        #[arg(long, value_name = "PATH")]
        dir: Option<PathBuf>,
    },
}

/// Returns whether `--json` was given to the command or one of its subcommands.
#[must_use]
pub fn wants_json(matches: &ArgMatches) -> bool {
    let is_given_here =
        matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    is_given_here || matches.subcommand().is_some_and(|(_, matches)| wants_json(matches))
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
        for arguments in [
            &["loci", "add", "- buy milk", "--type", "semantic"][..],
            &["loci", "add", "--type", "semantic", "- buy milk"],
        ] {
            let Ok(Command::Add(add)) = Cli::try_parse_from(arguments).map(|cli| cli.command)
            else {
                panic!("{arguments:?}")
            };
            assert_eq!((add.text.as_str(), add.kind.as_str()), ("- buy milk", "semantic"));
        }
        let words = Cli::try_parse_from(["loci", "add", "x", "y", "--type", "entity", "z"]);
        assert!(
            matches!(words.map(|cli| cli.command), Ok(Command::Add(add)) if add.words == ["y", "z"])
        );
    }

    #[test]
    fn json_is_recognised_at_every_level_of_subcommands() {
        let json = |arguments: &[&str]| {
            wants_json(
                &Cli::command().try_get_matches_from(arguments).expect("the arguments are valid"),
            )
        };
        assert!(json(&["loci", "ctl", "status", "--json"]));
        assert!(json(&["loci", "list", "--json"]));
        assert!(!json(&["loci", "add", "--type", "entity", "--", "--json"]));
    }
}
