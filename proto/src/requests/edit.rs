//! `edit`: changes one memory in place (`loci edit`). Agents store a new memory with `supersedes` instead.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab", "content": "Anna prefers spaces.", "expires_at": "never"}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "changed": ["content"], "act": 17}
//! ```

use crate::group::GroupName;
use crate::memory::{Category, Confidence, MemoryId, Scope, Unasked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments of `edit`; absent fields stay unchanged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
    /// New text.
    #[serde(default)]
    pub content: Option<String>,
    /// New metadata; replaces all of the old but what `scope` and `unasked` said.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// New category.
    #[serde(default)]
    pub category: Option<Category>,
    /// Whether it is given unasked, in briefs and by hooks.
    #[serde(default)]
    pub unasked: Option<Unasked>,
    /// New scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// New confidence.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// New expiry date or time (RFC 3339), or `never`.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// New first date or time (RFC 3339) at which it is true, or `never` to remove it.
    #[serde(default)]
    pub valid_from: Option<String>,
    /// New last date or time at which it is true, or `never` to remove it.
    #[serde(default)]
    pub valid_to: Option<String>,
    /// Id of a memory that this one replaces.
    #[serde(default)]
    pub supersedes: Option<MemoryId>,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

impl EditRequest {
    /// Changes nothing of the memory yet.
    #[must_use]
    pub fn new(memory_id: MemoryId) -> Self {
        Self {
            memory_id,
            content: None,
            metadata: None,
            category: None,
            unasked: None,
            scope: None,
            confidence: None,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            supersedes: None,
            group: None,
        }
    }
}

/// Reply of `edit` and `pin`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedReply {
    /// Id of the memory.
    pub id: MemoryId,
    /// Names of the fields that were changed, for example `content`; empty if the memory already had these values.
    pub changed: Vec<String>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
