//! The request and the reply of each verb, and [`Request`], the table of all verbs.
//!
//! `export`, `import` and `reload` are not variants of [`Request`]: they are separate routes of the admin socket, because their bodies
//! are streams or empty.

pub mod association;
pub mod backup;
pub mod bridge;
pub mod cleanup;
pub mod compact;
pub mod config;
pub mod confirm;
pub mod diff;
pub mod doctor;
pub mod edit;
pub mod eval;
pub mod explain;
pub mod export;
pub mod facets;
pub mod find;
pub mod forget;
pub mod forget_many;
pub mod groups;
pub mod history;
pub mod hook;
pub mod import;
pub mod incognito;
pub mod injected;
pub mod inspect;
pub mod list;
pub mod maintenance;
pub mod move_to;
pub mod pin;
pub mod purge_backups;
pub mod recall;
pub mod redo;
pub mod reembed;
pub mod relate;
pub mod reset;
pub mod restore;
pub mod review;
pub mod scan;
pub mod stats;
pub mod store;
pub mod supersede;
#[cfg(test)]
mod tests;
pub mod topics;
pub mod undo;
pub mod wander;

use crate::error::{Code, Failure};
use crate::mcp::arguments;
use serde_json::{Map, Value};

/// Declares [`Request`] from one table, so that a verb's variant, name and request type cannot disagree.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($request:ty), $callers:ident;)+) => {
        /// A call of a verb whose arguments have been checked: one variant for each verb.
        #[derive(Debug, Clone)]
        pub enum Request {
            $($(#[$doc])* $variant($request),)+
        }

        impl Request {
            /// The names of all verbs, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Parses the arguments of the verb `name`.
            ///
            /// # Errors
            /// `invalid` if the verb is unknown or an argument is not valid (see [`arguments::parse`]).
            pub fn parse(name: &str, arguments: Map<String, Value>) -> Result<Self, Failure> {
                match name {
                    $($name => arguments::parse(arguments).map(Self::$variant),)+
                    _ => Err(Failure::new(Code::Invalid, format!("there is no verb {name}"))),
                }
            }

            /// Returns the arguments of the verb `name` with values in place of the texts that stand for them.
            ///
            /// # Errors
            /// `invalid` if the verb or an argument is unknown.
            pub fn read_values(name: &str, arguments: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
                match name {
                    $($name => arguments::read_values::<$request>(arguments),)+
                    _ => Err(Failure::new(Code::Invalid, format!("there is no verb {name}"))),
                }
            }

            /// Returns the verb's name, for example `store_memory`.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            /// Returns true if agents can call the verb as an MCP tool; all other verbs are for people only.
            #[must_use]
            pub fn is_agent_tool(&self) -> bool {
                match self {
                    $(Self::$variant(_) => is_agent_tool!($callers),)+
                }
            }
        }
    };
}

/// Converts the last column of the table of [`Request`] to a boolean.
macro_rules! is_agent_tool {
    (agents) => {
        true
    };
    (people) => {
        false
    };
}

requests! {
    /// Stores a memory.
    "store_memory" => Store(store::StoreRequest), agents;
    /// Searches memories, or returns those with the given ids.
    "recall_memory" => Recall(recall::RecallRequest), agents;
    /// Hides one memory, or deletes it permanently.
    "forget_memory" => Forget(forget::ForgetRequest), agents;
    /// Counts memories.
    "memory_stats" => Stats(stats::StatsRequest), agents;
    /// Returns one memory with everything that is stored about it.
    "memory_inspect" => Inspect(inspect::InspectRequest), agents;
    /// Relates two entities.
    "store_relation" => Relate(relate::RelateRequest), agents;
    /// Makes a forgotten, superseded or compacted memory active again.
    "restore_memory" => Restore(restore::RestoreRequest), agents;
    /// Returns a cluster of old episodes, or replaces it by the agent's summary.
    "compact_memories" => Compact(compact::CompactRequest), agents;
    /// Returns the configuration in force.
    "config" => Config(config::ConfigRequest), people;
    /// Lists memories by attribute.
    "list" => List(list::ListRequest), people;
    /// Counts memories by attribute.
    "facets" => Facets(list::ListRequest), people;
    /// Finds memories by a part of their id.
    "find" => Find(find::FindRequest), people;
    /// Changes one memory in place.
    "edit" => Edit(edit::EditRequest), people;
    /// Pins or unpins one memory.
    "pin" => Pin(pin::PinRequest), people;
    /// Moves memories to another project.
    "move_to" => MoveTo(move_to::MoveRequest), people;
    /// Marks one memory as replaced by another.
    "supersede" => Supersede(supersede::SupersedeRequest), people;
    /// Lists pairs of memories that look like versions of one fact.
    "review" => Review(review::ReviewRequest), people;
    /// Lists how what is known has changed between two times.
    "diff" => Diff(diff::DiffRequest), people;
    /// Groups memories by what they are about.
    "topics" => Topics(topics::TopicsRequest), people;
    /// Walks from memory to memory along associations.
    "wander" => Wander(wander::WanderRequest), people;
    /// Marks memories as confirmed by a person.
    "confirm" => Confirm(confirm::ConfirmRequest), people;
    /// Hides several memories in one transaction.
    "forget_many" => ForgetMany(forget_many::ForgetManyRequest), people;
    /// Reverts journal entries.
    "undo" => Undo(undo::UndoRequest), people;
    /// Takes back an undo.
    "redo" => Redo(redo::RedoRequest), people;
    /// Answers an event of a client's session.
    "hook" => Hook(hook::HookRequest), people;
    /// Lists what hooks delivered.
    "injected" => Injected(injected::InjectedRequest), people;
    /// Lists journal entries.
    "history" => History(history::HistoryRequest), people;
    /// Measures retrieval quality on the store itself.
    "eval" => Eval(eval::EvalRequest), people;
    /// Controls the maintenance scheduler.
    "maintenance" => Maintenance(maintenance::MaintenanceRequest), people;
    /// Forgets memories of low confidence that are not used.
    "cleanup" => Cleanup(cleanup::CleanupRequest), people;
    /// Lists groups.
    "groups" => Groups(groups::GroupsRequest), people;
    /// Renames a group.
    "groups_rename" => GroupsRename(groups::RenameRequest), people;
    /// Merges one group into another.
    "groups_merge" => GroupsMerge(groups::MergeRequest), people;
    /// Joins a group without a folder here to that of the caller.
    "groups_join" => GroupsJoin(groups::JoinRequest), people;
    /// Adds or removes another name of a group.
    "groups_alias" => GroupsAlias(groups::AliasRequest), people;
    /// Switches a group off or on.
    "groups_switch" => GroupsSwitch(groups::SwitchRequest), people;
    /// Makes a running session incognito.
    "incognito" => Incognito(incognito::IncognitoRequest), people;
    /// Returns the state of the bridge to clients' own memory.
    "bridge" => Bridge(bridge::BridgeRequest), people;
    /// Watches the memory files of a client, or no longer.
    "bridge_switch" => BridgeSwitch(bridge::BridgeSwitchRequest), people;
    /// Returns the versions of a client's memory file.
    "bridge_file" => BridgeFile(bridge::BridgeFileRequest), people;
    /// Returns the memories for a client's memory file.
    "bridge_block" => BridgeBlock(bridge::BridgeBlockRequest), people;
    /// Makes a verified backup.
    "backup" => Backup(backup::BackupRequest), people;
    /// Deletes all memories.
    "reset" => Reset(reset::ResetRequest), people;
    /// Deletes the backups that hold a permanently deleted memory.
    "purge_backups" => PurgeBackups(purge_backups::PurgeBackupsRequest), people;
    /// Checks the store, the index and the model.
    "doctor" => Doctor(doctor::DoctorRequest), people;
    /// Finds secrets in the store, and replaces them if asked to.
    "scan" => Scan(scan::ScanRequest), people;
    /// Encodes all memories again.
    "reembed" => Reembed(reembed::ReembedRequest), people;
}
