//! `forget_memory` and `restore_memory`: what they take and what they give.

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to forget, and how.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// Which memory.
    pub memory_id: MemoryId,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Remove every trace for good; only if the user asks for it.
    #[serde(default)]
    pub hard_delete: bool,
    /// Another project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForgetReply {
    /// Which memory.
    pub id: MemoryId,
    /// `forgotten`, or `deleted` when every trace was removed.
    pub status: String,
    /// It was forgotten before; nothing was changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_forgotten: bool,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// What is left of it elsewhere, and how to remove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Which memory to bring back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// Which memory.
    pub memory_id: MemoryId,
    /// Another project.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoreReply {
    /// Which memory.
    pub id: MemoryId,
    /// `active`.
    pub status: String,
    /// What it was before.
    pub was: String,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
