//! `supersede`: marks one memory as replaced by another (`loci supersede`). Agents store with `supersedes` instead.
//!
//! Request:
//! ```json
//! {"old": "01953a2b-7c1e-7000-8000-0123456789ab", "new": "01953a2b-7c1e-7000-8000-0123456789ac"}
//! ```
//! Reply:
//! ```json
//! {"superseded": "01953a2b-7c1e-7000-8000-0123456789ab", "by": "01953a2b-7c1e-7000-8000-0123456789ac", "act": 23}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `supersede`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupersedeRequest {
    /// Id of the memory that is out of date.
    pub old: MemoryId,
    /// Id of the memory that replaces it.
    pub new: MemoryId,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `supersede`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupersedeReply {
    /// The memory that was replaced.
    pub superseded: MemoryId,
    /// The memory that replaces it.
    pub by: MemoryId,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
