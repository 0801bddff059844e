//! What people do with groups: list, rename, merge, other names. Which group a session works in is [`crate::group`].

use crate::group::GroupName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every group.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupsRequest {}

/// Every group, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupsReply {
    /// The groups.
    pub groups: Vec<GroupEntry>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// Never changes.
    pub id: String,
    /// What lists and tables show.
    pub name: String,
    /// Other names that lead to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Its memories that are found.
    pub active: usize,
    /// All its memories.
    pub memories: usize,
}

/// Another display name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    /// The group: its id, another name of it, or its display name.
    pub group: GroupName,
    /// The new display name.
    pub to: GroupName,
}

/// One group becomes part of another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The group that ends.
    pub from: GroupName,
    /// The group that goes on.
    pub into: GroupName,
    /// Only say what would be moved.
    #[serde(default)]
    pub dry_run: bool,
}

/// One more name, or one less.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasRequest {
    /// The group.
    pub group: GroupName,
    /// The name.
    pub alias: GroupName,
    /// Take the name away.
    #[serde(default)]
    pub remove: bool,
}

/// A group was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChanged {
    /// How it is now.
    pub group: GroupEntry,
    /// Memories that were moved into it.
    #[serde(default)]
    pub moved: usize,
    /// The number of the act, for `loci undo`; none when all was so before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
