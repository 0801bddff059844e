//! `forget_many`: hides several memories in one transaction (`loci forget --where`).
//!
//! Request:
//! ```json
//! {"memory_ids": ["01953a2b-7c1e-7000-8000-0123456789ab"], "reason": "project ended"}
//! ```
//! Reply:
//! ```json
//! {"forgotten": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "status": "forgotten"}], "act": 14}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use crate::requests::forget::ForgetReply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `forget_many`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetManyRequest {
    /// Ids of the memories.
    pub memory_ids: Vec<MemoryId>,
    /// Why the memories are forgotten; stored.
    #[serde(default)]
    pub reason: Option<String>,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `forget_many`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForgetManyReply {
    /// One entry per id, in the order of the request.
    pub forgotten: Vec<ForgetReply>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
