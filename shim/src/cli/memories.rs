//! The arguments of the commands about memories. Only definitions; each command has a file in `verbs`.

use crate::cli::values::{confidence, duration, memory_types, object, scopes};
use clap::Args;
use loci_proto::group::GroupName;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use serde_json::{Map, Value};

const STATUSES: [&str; 8] =
    ["active", "superseded", "compacted", "forgotten", "expired", "pinned", "flagged", "all"];

/// `--json`
#[derive(Debug, Clone, Args)]
pub struct Format {
    /// Print the daemon's own JSON, on one line.
    #[arg(long)]
    pub json: bool,
}

/// `--group`, for commands about one memory.
#[derive(Debug, Clone, Args)]
pub struct Project {
    /// The project of the memory, if it is not the working directory's.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
}

/// `loci search`
#[derive(Debug, Args)]
pub struct Search {
    /// What you want to know, in your own words.
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// Only this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types())]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[arg(long, value_parser = scopes())]
    pub scope: Option<Scope>,
    /// In another project than the working directory's.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    /// How many memories at the most, 1 to 20.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub limit: Option<u8>,
    /// Only memories that are at least so sure, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = confidence)]
    pub min_confidence: Option<Confidence>,
    /// Only memories of this day or later, for example 2026-05-13.
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Only memories of this day or earlier.
    #[arg(long, value_name = "DATE")]
    pub to: Option<String>,
    /// Show the whole memories instead of their first lines.
    #[arg(long)]
    pub full: bool,
    /// Also show how each score came about, and what was left out on the way; counts nothing as used.
    #[arg(long)]
    pub explain: bool,
    /// Count nothing as used; without it the memories that `--full` shows are.
    #[arg(long)]
    pub dry_run: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci list`
#[derive(Debug, Args)]
pub struct List {
    /// Only this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types())]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[arg(long, value_parser = scopes())]
    pub scope: Option<Scope>,
    /// Memories of this status; without it the active ones.
    #[arg(long, value_parser = STATUSES)]
    pub status: Option<String>,
    /// Only memories that were stored in this project; without it all that the working directory's project sees.
    #[arg(long, value_name = "NAME", conflicts_with = "all_groups")]
    pub group: Option<GroupName>,
    /// Memories of every project.
    #[arg(long)]
    pub all_groups: bool,
    /// Only memories whose text holds this, in capitals or not.
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Only memories stored at least so long ago, for example 90d.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub older: Option<i64>,
    /// How many memories on the page, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// The next page: the number that the page before ends with.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// The memory: its id, or at least 4 characters of the id's beginning or end.
    pub id: String,
    /// What happened to it, and who did it; newest first.
    #[arg(long)]
    pub log: bool,
    /// The next page of the log: the number that the page before ends with.
    #[arg(long, value_name = "NUMBER", requires = "log")]
    pub log_before: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci add`
#[derive(Debug, Args)]
pub struct Add {
    /// One self-contained statement; `-` reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// What kind of memory it is.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types())]
    pub kind: MemoryType,
    /// Who sees it; without it, `group` for what happened and `global` for everything else.
    #[arg(long, value_parser = scopes())]
    pub scope: Option<Scope>,
    /// Details, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub metadata: Option<Map<String, Value>>,
    /// The memory that it replaces.
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<String>,
    /// How sure it is, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = confidence)]
    pub confidence: Option<Confidence>,
    /// How long it holds, for example 30d.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "expires")]
    pub ttl: Option<i64>,
    /// The date, or moment (RFC 3339), after which it is no longer true.
    #[arg(long, value_name = "DATE")]
    pub expires: Option<String>,
    /// Store it in another project than the working directory's.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci edit`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["content", "metadata", "scope", "confidence", "expires"]))]
pub struct Edit {
    /// The memory: its id, or at least 4 characters of the id's beginning or end.
    pub id: String,
    /// The new text; `-` reads it from standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub content: Option<String>,
    /// The new details, as a JSON object, in place of all the old ones.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub metadata: Option<Map<String, Value>>,
    /// Who sees it from now on.
    #[arg(long, value_parser = scopes())]
    pub scope: Option<Scope>,
    /// How sure it is from now on, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = confidence)]
    pub confidence: Option<Confidence>,
    /// The date, or moment (RFC 3339), after which it is no longer true; `never` takes the end away.
    #[arg(long, value_name = "DATE")]
    pub expires: Option<String>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci pin`
#[derive(Debug, Args)]
pub struct Pin {
    /// The memory: its id, or at least 4 characters of the id's beginning or end.
    pub id: String,
    /// Let its confidence fade again.
    #[arg(long)]
    pub off: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci forget`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["id", "matching"]))]
pub struct Forget {
    /// The memory: its id, or at least 4 characters of the id's beginning or end.
    pub id: Option<String>,
    /// Every memory that this fits: text:WORDS type:TYPE scope:SCOPE status:STATUS group:NAME older:90d confidence:<0.1
    #[arg(long = "where", value_name = "EXPRESSION", conflicts_with = "hard")]
    pub matching: Option<String>,
    /// Remove every trace of it, for good. Without this it can be restored.
    #[arg(long)]
    pub hard: bool,
    /// Also remove the backups that still hold it.
    #[arg(long, requires = "hard")]
    pub purge_backups: bool,
    /// Why; kept.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci restore`
#[derive(Debug, Args)]
pub struct Restore {
    /// The memory: its id, or at least 4 characters of the id's beginning or end.
    pub id: String,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci relate`
#[derive(Debug, Args)]
pub struct Relate {
    /// An entity, by its id or a part of it.
    pub subject: String,
    /// What it has to do with the other one, for example `works_at`.
    pub predicate: String,
    /// Another entity.
    pub object: String,
    /// Memories that say so.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub evidence: Vec<String>,
    /// How sure it is, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = confidence)]
    pub confidence: Option<Confidence>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci stats`
#[derive(Debug, Args)]
pub struct Stats {
    /// Only memories that were stored in this project.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci history`
#[derive(Debug, Args)]
pub struct History {
    /// Only acts that changed this memory.
    pub id: Option<String>,
    /// How many acts on the page, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// The next page: the number that the page before ends with.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci undo`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["id", "last", "since"]))]
pub struct Undo {
    /// The act, by the number that `loci history` shows.
    #[arg(value_name = "ACT")]
    pub id: Option<i64>,
    /// The newest act of the whole store that was not undone yet.
    #[arg(long)]
    pub last: bool,
    /// Every act since so long ago, for example 2h.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub since: Option<i64>,
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
