//! `move_to`: moves memories to another project (`loci move`).
//!
//! Request:
//! ```json
//! {"memory_ids": ["01953a2b-7c1e-7000-8000-0123456789ab"], "to": "shop"}
//! ```
//! Reply:
//! ```json
//! {"moved": 1, "to": "shop", "name": "the shop", "created": false, "act": 14}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `move_to`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// Ids of the memories.
    pub memory_ids: Vec<MemoryId>,
    /// The project to move them to: id, alias or display name.
    pub to: GroupName,
    /// Create the project if there is none of this name.
    #[serde(default)]
    pub create: bool,
    /// The project that they are in, if it is not that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `move_to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveReply {
    /// Number of memories that were in another project before.
    pub moved: usize,
    /// Id of the project.
    pub to: String,
    /// Its display name.
    pub name: String,
    /// The project is new.
    #[serde(default)]
    pub created: bool,
    /// One of the projects is isolated: the move cannot be undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// Number of the journal entry, for `loci undo`; absent if nothing was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
