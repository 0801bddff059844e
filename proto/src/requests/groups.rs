//! `groups`, `groups_rename`, `groups_merge`, `groups_join`, `groups_alias` and `groups_switch`: lists and changes groups (`loci groups`).
//! [`crate::group`] defines which group a session works in.
//!
//! Request and reply of `groups`:
//! ```json
//! {}
//! ```
//! ```json
//! {"groups": [{"id": "g_0123456789abcdef", "name": "shop", "aliases": ["store"], "active": 2, "memories": 3}]}
//! ```
//! Request and reply of `groups_rename`:
//! ```json
//! {"group": "g_0123456789abcdef", "to": "web shop"}
//! ```
//! ```json
//! {"group": {"id": "g_0123456789abcdef", "name": "web shop", "active": 2, "memories": 3}, "moved": 0, "act": 21}
//! ```
//! Request and reply of `groups_merge`:
//! ```json
//! {"from": "old shop", "into": "web shop", "dry_run": true}
//! ```
//! ```json
//! {"group": {"id": "g_0123456789abcdef", "name": "web shop", "active": 2, "memories": 3}, "moved": 4}
//! ```
//! Request and reply of `groups_join`:
//! ```json
//! {"group": "shop", "dry_run": true, "decline": true}
//! ```
//! ```json
//! {"group": {"id": "g_0123456789abcdef", "name": "shop", "active": 2, "memories": 3}, "moved": 4, "from": "shop"}
//! ```
//! Request and reply of `groups_alias`:
//! ```json
//! {"group": "web shop", "alias": "store", "remove": false}
//! ```
//! ```json
//! {"group": {"id": "g_0123456789abcdef", "name": "web shop", "aliases": ["store"], "active": 2, "memories": 3}, "moved": 0, "act": 22}
//! ```
//! Request and reply of `groups_switch`:
//! ```json
//! {"group": "web shop", "off": true}
//! ```
//! ```json
//! {"id": "g_0123456789abcdef", "name": "web shop", "state": "off"}
//! ```

use crate::group::GroupName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `groups`: none.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupsRequest {}

/// Reply of `groups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupsReply {
    /// All groups, sorted by name.
    pub groups: Vec<GroupEntry>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// Id of the group; never changes.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Other names that refer to this group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Number of active memories.
    pub active: usize,
    /// Number of memories of any status.
    pub memories: usize,
    /// The project keeps its memories to itself; only in the reply of `groups`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// A person has switched the project off; only in the reply of `groups`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// Arguments of `groups_rename`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    /// The group: its id, an alias, or its display name.
    pub group: GroupName,
    /// The new display name.
    pub to: GroupName,
}

/// Arguments of `groups_merge`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The group to move memories from; it is removed.
    pub from: GroupName,
    /// The group to move memories into.
    pub into: GroupName,
    /// Count the memories without moving them.
    #[serde(default)]
    pub dry_run: bool,
}

/// Arguments of `groups_join`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinRequest {
    /// The project without a folder here: its name or id. Default: the only one that may be the caller's.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Count the memories without moving them.
    #[serde(default)]
    pub dry_run: bool,
    /// Do not join it, and offer it no more.
    #[serde(default)]
    pub decline: bool,
}

/// Arguments of `groups_alias`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasRequest {
    /// The group: its id, an alias, or its display name.
    pub group: GroupName,
    /// The alias to add.
    pub alias: GroupName,
    /// Remove the alias instead.
    #[serde(default)]
    pub remove: bool,
}

/// Reply of `groups_rename`, `groups_merge`, `groups_join` and `groups_alias`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChangedReply {
    /// The group after the change.
    pub group: GroupEntry,
    /// Number of memories that were moved into it, or would be with `dry_run`.
    #[serde(default)]
    pub moved: usize,
    /// Display name of the project that was joined; only in the reply of `groups_join`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of the journal entry, for `loci undo`; absent if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// Arguments of `groups_switch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchRequest {
    /// The group: its id, an alias, or its display name. Default: that of the caller.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Switch it off instead of on.
    #[serde(default)]
    pub off: bool,
}

/// Reply of `groups_switch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSwitchedReply {
    /// Id of the group.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// `off` or `on`.
    pub state: String,
}
