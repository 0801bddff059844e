//! The table of verbs: one row says what a verb takes and returns, how it runs, and who may call it.
//!
//! The daemon dispatches and checks by it, the clients have their types from it, and docs/security-model.md shows it. Not here: the types
//! of a verb (its own module), what it does (the engine).

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A request of a verb.
pub trait Verb: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What it is answered with.
    type Reply: Serialize + DeserializeOwned + Send + 'static;
    /// The name, for example `store_memory`.
    const NAME: &'static str;
    /// What it does, and who may call it.
    const POWERS: Powers;
}

/// What a verb does, and who may call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Powers {
    /// What it does, in a sentence.
    pub purpose: &'static str,
    /// The command of a person.
    pub command: &'static str,
    /// Whether it changes the store.
    pub access: Access,
    /// Who may call it.
    pub callers: Callers,
    /// How much of the store it concerns.
    pub concerns: Concerns,
    /// Who is served where loci is off.
    pub where_off: WhereOff,
    /// Whether the viewer calls it.
    pub in_viewer: InViewer,
}

/// Whether a verb changes the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It changes the store.
    Write,
}

/// Who may call a verb. A command that an agent or a script runs is the agent's or the script's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    /// Everybody; agents have it as a tool.
    Tool,
    /// Everybody; agents have it as a tool, but not for what a person stored, confirmed or decided.
    ToolOfOwn,
    /// Everybody who runs a command.
    Command,
    /// Everybody who runs a command; agents and scripts not for what a person stored, confirmed or decided, nor for other projects.
    CommandOfOwn,
    /// Only a person.
    Person,
}

impl Callers {
    /// Returns whether agents have the verb as a tool.
    #[must_use]
    pub fn has_tool(self) -> bool {
        matches!(self, Self::Tool | Self::ToolOfOwn)
    }
}

/// How much of the store a verb concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concerns {
    /// What the caller sees.
    Visible,
    /// Every project, or the names of any: refused to agents and scripts while a project is isolated.
    Store,
}

/// Who is served where loci is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhereOff {
    /// Nobody.
    Nobody,
    /// A person, who may still look, delete, and switch it on.
    Person,
    /// Everybody who runs a command.
    Command,
    /// Everybody.
    Everybody,
}

/// Whether the page of `loci view` calls a verb: one that reads, or whose changes can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InViewer {
    /// It does.
    Offered,
    /// It does not.
    Hidden,
}

/// Passes the table of verbs to a macro.
///
/// A row: the purpose; the name, the variant of [`Request`](crate::requests::Request) and the types of the request and the reply; whether
/// it reads or writes, and whether the engine does it alone or a handler of the daemon (`with`); who may call it; how much of the store it
/// concerns; who is served where loci is off; whether the viewer calls it; the command.
#[macro_export]
macro_rules! verbs {
    ($table:ident) => {
        $table! {
            /// Stores a memory.
            "store_memory" => Store($crate::requests::store::StoreRequest) -> $crate::requests::store::StoreReply:
                Write with handler, Tool, Visible, Nobody, Offered, "loci add";
            /// Searches memories, or returns those with the given ids.
            "recall_memory" => Recall($crate::requests::recall::RecallRequest) -> $crate::requests::recall::RecallReply:
                Read with handler, Tool, Visible, Nobody, Offered, "loci search";
            /// Hides one memory, or deletes it permanently.
            "forget_memory" => Forget($crate::requests::forget::ForgetRequest) -> $crate::requests::forget::ForgetReply:
                Write with handler, ToolOfOwn, Visible, Person, Offered, "loci forget";
            /// Counts memories.
            "memory_stats" => Stats($crate::requests::stats::StatsRequest) -> $crate::requests::stats::StatsReply:
                Read with handler, Tool, Visible, Command, Offered, "loci stats";
            /// Returns one memory with everything that is stored about it.
            "memory_inspect" => Inspect($crate::requests::inspect::InspectRequest) -> $crate::requests::inspect::InspectReply:
                Read with handler, Tool, Visible, Person, Offered, "loci inspect";
            /// Relates two entities.
            "store_relation" => Relate($crate::requests::relate::RelateRequest) -> $crate::requests::relate::RelateReply:
                Write with engine, Tool, Visible, Nobody, Offered, "loci relate";
            /// Makes a forgotten, superseded or compacted memory active again.
            "restore_memory" => Restore($crate::requests::restore::RestoreRequest) -> $crate::requests::restore::RestoreReply:
                Write with engine, ToolOfOwn, Visible, Person, Offered, "loci restore";
            /// Returns a cluster of old episodes, or replaces it by the agent's summary.
            "compact_memories" => Compact($crate::requests::compact::CompactRequest) -> $crate::requests::compact::CompactReply:
                Write with handler, Tool, Visible, Nobody, Hidden, "loci compact";
            /// Returns the configuration in force.
            "config" => Config($crate::requests::config::ConfigRequest) -> $crate::requests::config::ConfigReply:
                Read with handler, Command, Visible, Everybody, Offered, "loci config";
            /// Lists memories by attribute.
            "list" => List($crate::requests::list::ListRequest) -> $crate::requests::list::ListReply:
                Read with engine, Command, Visible, Person, Offered, "loci list";
            /// Counts memories by attribute.
            "facets" => Facets($crate::requests::facets::FacetsRequest) -> $crate::requests::facets::FacetsReply:
                Read with engine, Command, Visible, Person, Offered, "loci view";
            /// Finds memories by a part of their id.
            "find" => Find($crate::requests::find::FindRequest) -> $crate::requests::find::FindReply:
                Read with engine, Command, Visible, Person, Offered, "loci inspect";
            /// Changes one memory in place.
            "edit" => Edit($crate::requests::edit::EditRequest) -> $crate::requests::edit::ChangedReply:
                Write with handler, CommandOfOwn, Visible, Person, Offered, "loci edit";
            /// Pins or unpins one memory.
            "pin" => Pin($crate::requests::pin::PinRequest) -> $crate::requests::edit::ChangedReply:
                Write with engine, CommandOfOwn, Visible, Person, Offered, "loci pin";
            /// Moves memories to another project.
            "move_to" => MoveTo($crate::requests::move_to::MoveRequest) -> $crate::requests::move_to::MoveReply:
                Write with engine, Person, Visible, Person, Offered, "loci move";
            /// Marks one memory as replaced by another.
            "supersede" => Supersede($crate::requests::supersede::SupersedeRequest) -> $crate::requests::supersede::SupersedeReply:
                Write with engine, CommandOfOwn, Visible, Person, Offered, "loci supersede";
            /// Lists pairs of memories that look like versions of one fact.
            "review" => Review($crate::requests::review::ReviewRequest) -> $crate::requests::review::ReviewReply:
                Write with handler, Command, Visible, Person, Offered, "loci review";
            /// Lists how what is known has changed between two times.
            "diff" => Diff($crate::requests::diff::DiffRequest) -> $crate::requests::diff::DiffReply:
                Read with engine, Command, Visible, Person, Offered, "loci diff";
            /// Groups memories by what they are about.
            "topics" => Topics($crate::requests::topics::TopicsRequest) -> $crate::requests::topics::TopicsReply:
                Read with engine, Command, Visible, Person, Hidden, "loci topics";
            /// Walks from memory to memory along associations.
            "wander" => Wander($crate::requests::wander::WanderRequest) -> $crate::requests::wander::WanderReply:
                Read with engine, Command, Visible, Person, Hidden, "loci wander";
            /// Marks memories as confirmed by a person.
            "confirm" => Confirm($crate::requests::confirm::ConfirmRequest) -> $crate::requests::confirm::ConfirmReply:
                Write with engine, Person, Visible, Person, Offered, "loci confirm";
            /// Hides several memories in one transaction.
            "forget_many" => ForgetMany($crate::requests::forget_many::ForgetManyRequest) -> $crate::requests::forget_many::ForgetManyReply:
                Write with engine, CommandOfOwn, Visible, Person, Offered, "loci forget";
            /// Reverts journal entries.
            "undo" => Undo($crate::requests::undo::UndoRequest) -> $crate::requests::undo::UndoReply:
                Write with engine, CommandOfOwn, Store, Person, Offered, "loci undo";
            /// Takes back an undo.
            "redo" => Redo($crate::requests::redo::RedoRequest) -> $crate::requests::redo::RedoReply:
                Write with engine, CommandOfOwn, Store, Person, Offered, "loci redo";
            /// Answers an event of a client's session.
            "hook" => Hook($crate::requests::hook::HookRequest) -> $crate::requests::hook::HookReply:
                Write with handler, Command, Visible, Nobody, Hidden, "loci hook";
            /// Lists what hooks delivered.
            "injected" => Injected($crate::requests::injected::InjectedRequest) -> $crate::requests::injected::InjectedReply:
                Read with handler, Command, Visible, Person, Offered, "loci injected";
            /// Lists journal entries.
            "history" => History($crate::requests::history::HistoryRequest) -> $crate::requests::history::HistoryReply:
                Read with engine, Command, Store, Person, Offered, "loci history";
            /// Measures retrieval quality on the store itself.
            "eval" => Eval($crate::requests::eval::EvalRequest) -> $crate::requests::eval::EvalReply:
                Read with handler, Command, Store, Person, Hidden, "loci eval";
            /// Controls the maintenance scheduler.
            "maintenance" => Maintenance($crate::requests::maintenance::MaintenanceRequest) -> $crate::requests::maintenance::MaintenanceReply:
                Write with handler, Command, Store, Everybody, Offered, "loci ctl maintenance";
            /// Forgets memories of low confidence that are not used.
            "cleanup" => Cleanup($crate::requests::cleanup::CleanupRequest) -> $crate::requests::cleanup::CleanupReply:
                Write with handler, Person, Store, Person, Offered, "loci cleanup";
            /// Lists projects.
            "groups" => Groups($crate::requests::groups::GroupsRequest) -> $crate::requests::groups::GroupsReply:
                Read with engine, Command, Visible, Everybody, Offered, "loci groups";
            /// Renames a project.
            "groups_rename" => GroupsRename($crate::requests::groups::RenameRequest) -> $crate::requests::groups::GroupChangedReply:
                Write with engine, CommandOfOwn, Store, Person, Offered, "loci groups rename";
            /// Merges one project into another.
            "groups_merge" => GroupsMerge($crate::requests::groups::MergeRequest) -> $crate::requests::groups::GroupChangedReply:
                Write with engine, Person, Store, Person, Hidden, "loci groups merge";
            /// Joins a project without a folder here to that of the caller.
            "groups_join" => GroupsJoin($crate::requests::groups::JoinRequest) -> $crate::requests::groups::GroupChangedReply:
                Write with handler, Person, Store, Person, Hidden, "loci groups join";
            /// Adds or removes another name of a project.
            "groups_alias" => GroupsAlias($crate::requests::groups::AliasRequest) -> $crate::requests::groups::GroupChangedReply:
                Write with engine, CommandOfOwn, Store, Person, Offered, "loci groups alias";
            /// Switches a project off or on.
            "groups_switch" => GroupsSwitch($crate::requests::groups::SwitchRequest) -> $crate::requests::groups::GroupSwitchedReply:
                Write with handler, Person, Visible, Everybody, Offered, "loci groups off";
            /// Makes a running session incognito.
            "incognito" => Incognito($crate::requests::incognito::IncognitoRequest) -> $crate::requests::incognito::IncognitoReply:
                Write with handler, CommandOfOwn, Visible, Everybody, Hidden, "loci ctl incognito";
            /// Returns the state of the bridge to clients' own memory.
            "bridge" => Bridge($crate::requests::bridge::BridgeRequest) -> $crate::requests::bridge::BridgeReply:
                Write with handler, Command, Store, Person, Offered, "loci bridge status";
            /// Watches the memory files of a client, or no longer.
            "bridge_switch" => BridgeSwitch($crate::requests::bridge::BridgeSwitchRequest) -> $crate::requests::bridge::BridgeSwitchReply:
                Write with handler, Person, Visible, Person, Hidden, "loci bridge claude --on";
            /// Returns the versions of a client's memory file.
            "bridge_file" => BridgeFile($crate::requests::bridge::BridgeFileRequest) -> $crate::requests::bridge::BridgeFileReply:
                Read with engine, Command, Store, Person, Hidden, "loci bridge history";
            /// Returns the memories for a client's memory file.
            "bridge_block" => BridgeBlock($crate::requests::bridge::BridgeBlockRequest) -> $crate::requests::bridge::BridgeBlockReply:
                Read with handler, Command, Visible, Person, Hidden, "loci bridge write";
            /// Makes a verified backup.
            "backup" => Backup($crate::requests::backup::BackupRequest) -> $crate::requests::backup::BackupEntry:
                Write with handler, Command, Visible, Everybody, Offered, "loci backup";
            /// Deletes all memories.
            "reset" => Reset($crate::requests::reset::ResetRequest) -> $crate::requests::reset::ResetReply:
                Write with handler, Person, Store, Person, Hidden, "loci reset";
            /// Deletes the backups that hold a permanently deleted memory.
            "purge_backups" => PurgeBackups($crate::requests::purge_backups::PurgeBackupsRequest) -> $crate::requests::purge_backups::PurgeBackupsReply:
                Write with handler, Person, Store, Person, Hidden, "loci forget --hard --purge-backups";
            /// Checks the store, the index and the model.
            "doctor" => Doctor($crate::requests::doctor::DoctorRequest) -> $crate::requests::doctor::DoctorReply:
                Write with handler, CommandOfOwn, Visible, Everybody, Offered, "loci doctor";
            /// Finds secrets in the store, and replaces them if asked to.
            "scan" => Scan($crate::requests::scan::ScanRequest) -> $crate::requests::scan::ScanReply:
                Write with handler, CommandOfOwn, Store, Person, Offered, "loci scan";
            /// Encodes all memories again.
            "reembed" => Reembed($crate::requests::reembed::ReembedRequest) -> $crate::requests::reembed::ReembedReply:
                Write with handler, Command, Visible, Person, Hidden, "loci re-embed";
        }
    };
}
