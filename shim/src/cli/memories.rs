//! The arguments of the commands about memories. Only definitions; each command is implemented in `commands`.

use crate::cli::values::{
    list_order_parser, memory_type_parser, parse_act, parse_confidence, parse_object, parse_past,
    parse_span, scope_parser,
};
use clap::Args;
use loci_proto::group::GroupName;
use loci_proto::memory::{Category, Confidence, MemoryType, Scope, Unasked};
use loci_proto::requests::list::ListOrder;
use serde_json::{Map, Value};

const STATUSES: [&str; 11] = [
    "active",
    "superseded",
    "compacted",
    "forgotten",
    "candidate",
    "rejected",
    "expired",
    "pinned",
    "flagged",
    "dormant",
    "all",
];

/// `--json`, for commands that can print the daemon's reply.
#[derive(Debug, Clone, Args)]
pub struct Format {
    /// Print the daemon's reply as one line of JSON.
    #[arg(long)]
    pub json: bool,
}

/// `--group`, for commands about one memory.
#[derive(Debug, Clone, Args)]
pub struct Project {
    /// Project of the memory; default: project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
}

/// `loci search`
#[derive(Debug, Args)]
pub struct Search {
    /// Question or keywords; - reads them from standard input.
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// Only memories of this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_type_parser())]
    pub kind: Option<MemoryType>,
    /// Only memories of this scope.
    #[arg(long, value_parser = scope_parser())]
    pub scope: Option<Scope>,
    /// Project to search; default: project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    /// Maximum number of results, 1 to 20.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub limit: Option<u8>,
    /// Only memories of this category, for example rule, decision or state.
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
    /// Only memories about this subject: `subject` of their metadata.
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Minimum confidence, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = parse_confidence)]
    pub min_confidence: Option<Confidence>,
    /// Only memories from this day on: 2026-05-13, yesterday, 3d.
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Only memories up to this day.
    #[arg(long, value_name = "DATE")]
    pub to: Option<String>,
    /// Rank facts that are not true then last: a day (its end) or a time, as for --as-of, also to come; default: now.
    #[arg(long, value_name = "DATE")]
    pub valid_at: Option<String>,
    /// Show the store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// `candidate`: unconfirmed memories; `rejected`: attempts that were given up.
    #[arg(long, value_parser = ["candidate", "rejected"])]
    pub status: Option<String>,
    /// Also memories whose confidence fell below `maintenance.dormant_threshold`.
    #[arg(long)]
    pub include_dormant: bool,
    /// Print complete memories instead of previews.
    #[arg(long)]
    pub full: bool,
    /// Print a score breakdown; implies `--dry-run`.
    #[arg(long)]
    pub explain: bool,
    /// Also print which results are about the same.
    #[arg(long, conflicts_with = "as_of")]
    pub cluster: bool,
    /// Also print up to three memories that are linked to the results.
    #[arg(long, conflicts_with = "as_of")]
    pub associations: bool,
    /// Do not record usage; by default `--full` counts the printed memories as used.
    #[arg(long)]
    pub dry_run: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci list`
#[derive(Debug, Args)]
pub struct List {
    /// Only memories of this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_type_parser())]
    pub kind: Option<MemoryType>,
    /// Only memories of this scope.
    #[arg(long, value_parser = scope_parser())]
    pub scope: Option<Scope>,
    /// Only memories with this status; default: active.
    #[arg(long, value_parser = STATUSES)]
    pub status: Option<String>,
    /// Only memories stored in this project; default: all that are visible in the project of the working directory.
    #[arg(long, value_name = "NAME", conflicts_with = "all_groups")]
    pub group: Option<GroupName>,
    /// Include the memories of every project.
    #[arg(long)]
    pub all_groups: bool,
    /// Only memories whose text contains this; case-insensitive.
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Only memories of this category, for example rule, decision or state.
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
    /// Only memories about this subject: `subject` of their metadata.
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Only memories at least this old: 90d, or stored before a day or time (2026-05-13).
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    pub older: Option<i64>,
    /// Only memories of this day (2026-12-31, yesterday, 3d) or later: the day of the event, else the day of storing.
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Only memories of this day or earlier.
    #[arg(long, value_name = "DATE")]
    pub to: Option<String>,
    /// Show the store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Sort by: newest, oldest, day (of the event), used (most often first), confidence.
    #[arg(long, value_name = "ORDER", default_value = "newest", value_parser = list_order_parser())]
    pub sort: ListOrder,
    /// Only memories that are held back until you confirm them: imported, or flagged
    #[arg(long)]
    pub held: bool,
    /// Memories per page, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Print the next page: the number at the end of the previous page.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci browse`
#[derive(Debug, Args)]
pub struct Browse {
    /// Query to begin with.
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Begin with this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_type_parser())]
    pub kind: Option<MemoryType>,
    /// Begin with this project; default: all that is visible in the project of the working directory.
    #[arg(long, value_name = "NAME", conflicts_with = "all_groups")]
    pub group: Option<GroupName>,
    /// Begin with the memories of every project.
    #[arg(long)]
    pub all_groups: bool,
}

/// `loci inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// Memory id, or at least 4 characters of its start or end.
    pub id: String,
    /// Show the store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Print the log of the memory, newest entry first.
    #[arg(long)]
    pub log: bool,
    /// Print the next page of the log: the number at the end of the previous page.
    #[arg(long, value_name = "NUMBER", requires = "log")]
    pub log_before: Option<i64>,
    /// Print the next page of the relations: the id at the end of the previous page.
    #[arg(long, value_name = "ID")]
    pub relations_before: Option<String>,
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
    /// Text to store, one self-contained statement; `-` reads standard input.
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Further words of the text.
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Memory type.
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_type_parser(), default_value = "semantic")]
    pub kind: MemoryType,
    /// Scope; default: `group` for episodic memories, `global` for other types, unless `[scope]` changes it.
    #[arg(long, value_parser = scope_parser())]
    pub scope: Option<Scope>,
    /// rule, preference, decision, procedure, fix, fact, state or event; without --scope a rule is given in all projects.
    #[arg(long, value_name = "CATEGORY")]
    pub category: Option<Category>,
    /// Metadata as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    pub metadata: Option<Map<String, Value>>,
    /// A short question that it answers, in other words; repeatable, at most 5.
    #[arg(long = "question", value_name = "TEXT")]
    pub questions: Vec<String>,
    /// Id of the memory that this one replaces.
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<String>,
    /// Confidence, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = parse_confidence)]
    pub confidence: Option<Confidence>,
    /// Time until it expires, for example 30d.
    #[arg(long, value_name = "TIME", value_parser = parse_span, conflicts_with = "expires")]
    pub ttl: Option<i64>,
    /// Date or time (RFC 3339) at which it expires.
    #[arg(long, value_name = "DATE")]
    pub expires: Option<String>,
    /// First date or time (RFC 3339) at which it is true.
    #[arg(long, value_name = "DATE")]
    pub valid_from: Option<String>,
    /// Last date or time at which it is true; later it comes last in a search.
    #[arg(long, value_name = "DATE")]
    pub valid_to: Option<String>,
    /// Project to store it in; default: project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci edit`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["content", "category", "unasked", "metadata", "scope", "confidence", "expires", "valid_from", "valid_to", "supersedes"]))]
pub struct Edit {
    /// Memory id, or at least 4 characters of its start or end.
    pub id: String,
    /// New text; `-` reads standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub content: Option<String>,
    /// New category: rule, preference, decision, procedure, fix, fact, state or event.
    #[arg(long, value_name = "CATEGORY")]
    pub category: Option<Category>,
    /// Whether briefs and hooks give it: `never`, `always`, or `auto` as its category and use decide.
    #[arg(long, value_name = "WHEN")]
    pub unasked: Option<Unasked>,
    /// New metadata as a JSON object; replaces all existing metadata.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    pub metadata: Option<Map<String, Value>>,
    /// New scope.
    #[arg(long, value_parser = scope_parser())]
    pub scope: Option<Scope>,
    /// New confidence, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = parse_confidence)]
    pub confidence: Option<Confidence>,
    /// New date or time (RFC 3339) at which it expires; `never` removes the expiry.
    #[arg(long, value_name = "DATE")]
    pub expires: Option<String>,
    /// First date or time (RFC 3339) at which it is true; `never` removes it.
    #[arg(long, value_name = "DATE")]
    pub valid_from: Option<String>,
    /// Last date or time at which it is true; `never` removes it; later it comes last in a search.
    #[arg(long, value_name = "DATE")]
    pub valid_to: Option<String>,
    /// Id of a memory that this one replaces.
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<String>,
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
    /// Memory id, or at least 4 characters of its start or end.
    pub id: String,
    /// Unpin: let the confidence fade again.
    #[arg(long)]
    pub off: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci confirm`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["id", "imported"]))]
pub struct Confirm {
    /// Memory id, or at least 4 characters of its start or end.
    pub id: Option<String>,
    /// All imported memories without flags, of every project.
    #[arg(long)]
    pub imported: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
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
    /// Memory id, or at least 4 characters of its start or end.
    pub id: Option<String>,
    /// Forget every memory that matches: text:WORDS type:TYPE scope:SCOPE status:STATUS group:NAME older:90d confidence:<0.1
    #[arg(long = "where", value_name = "EXPRESSION", conflicts_with = "hard")]
    pub matching: Option<String>,
    /// Erase it from the store, which cannot be undone; backups keep it without `--purge-backups`.
    #[arg(long)]
    pub hard: bool,
    /// Also delete backups that contain it.
    #[arg(long, requires = "hard")]
    pub purge_backups: bool,
    /// Reason, kept in the log.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci move`
#[derive(Debug, Args)]
pub struct Move {
    /// Memory ids, or at least 4 characters of their start or end.
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Project to move them to: id, alias or display name.
    #[arg(long, value_name = "PROJECT")]
    pub to: GroupName,
    /// Create the project if there is none of this name.
    #[arg(long)]
    pub create: bool,
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
    /// Memory id, or at least 4 characters of its start or end.
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
    /// Subject: id of an entity, or part of it.
    pub subject: String,
    /// Predicate, for example `works_at`.
    pub predicate: String,
    /// Object: id of an entity, or part of it.
    pub object: String,
    /// Ids of memories that support the relation.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub evidence: Vec<String>,
    /// Confidence, 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = parse_confidence)]
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
    /// Only memories stored in this project.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    /// Chart what was stored, used and changed over time, by type and by project.
    #[arg(long, conflicts_with = "json")]
    pub chart: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci history`
#[derive(Debug, Args)]
pub struct History {
    /// Only acts that changed this memory.
    pub id: Option<String>,
    /// Only what this session did, with the memories that it stored; the beginning of its id is enough.
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    pub session: Option<String>,
    /// Acts per page, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Print the next page: the number at the end of the previous page.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci redo`
#[derive(Debug, Args)]
pub struct Redo {
    /// Number of an undone act, as `loci history` prints it; default: the acts of the last undo.
    #[arg(value_name = "ACT", value_parser = parse_act)]
    pub id: Option<i64>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci undo`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["id", "last", "since", "session"]))]
pub struct Undo {
    /// Number of the act, as `loci history` prints it.
    #[arg(value_name = "ACT", value_parser = parse_act)]
    pub id: Option<i64>,
    /// Undo the newest act that is not undone yet.
    #[arg(long)]
    pub last: bool,
    /// Undo every act since then: 2h, today, yesterday (its beginning), 2026-11-01.
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    pub since: Option<i64>,
    /// Undo everything that this session did, stores included; the beginning of its id is enough.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
