//! `forget_memory`: hides one memory, deletes it permanently, or marks it as an attempt that was given up (`loci reject`).
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab", "reason": "wrong", "hard_delete": false}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "status": "forgotten", "act": 12}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `forget_memory`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Delete it permanently; only if the user asks for that.
    #[serde(default)]
    pub hard_delete: bool,
    /// It was tried and given up: keep it marked; reason says why.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub rejected: bool,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
}

impl ForgetRequest {
    /// Forgets the memory.
    #[must_use]
    pub fn new(memory_id: MemoryId) -> Self {
        Self { memory_id, reason: None, hard_delete: false, rejected: false, group: None }
    }
}

/// Reply of `forget_memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForgetReply {
    /// Id of the memory.
    pub id: MemoryId,
    /// `forgotten`; `deleted` after a hard delete; `rejected` if it was given up.
    pub status: String,
    /// True if the memory was already forgotten; nothing was changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_forgotten: bool,
    /// The project that stored the memory, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// Where copies of the text may remain, and how to remove them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
