//! What people do from the command line and agents do not: list, edit, pin. Each is also undoable.

use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Scope};
use crate::requests::forget::ForgetReply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which memories to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Only this type.
    #[serde(default, rename = "type")]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// `active` (the default), `superseded`, `compacted`, `forgotten`, `expired`, `pinned`, `flagged` or `all`.
    #[serde(default)]
    pub status: Option<String>,
    /// Another project than the working directory's.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Every project.
    #[serde(default)]
    pub all_groups: bool,
    /// Only memories that were stored in that project, not the global ones of others.
    #[serde(default)]
    pub from_group: bool,
    /// Only memories whose text holds this, without regard to case.
    #[serde(default)]
    pub text: Option<String>,
    /// Only memories stored at least so many seconds ago.
    #[serde(default)]
    pub older_than_seconds: Option<i64>,
    /// Only memories whose confidence is below this.
    #[serde(default)]
    pub confidence_below: Option<Confidence>,
    /// Only memories stored before this one: `next` of the page before.
    #[serde(default)]
    pub before: Option<i64>,
    /// Memories on the page, 1 to 1000; default 50.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// A page of memories, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListReply {
    /// The memories.
    pub memories: Vec<Listed>,
    /// How many there are on all pages.
    pub total: usize,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// A memory in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Which memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Who sees it.
    pub scope: Scope,
    /// The project that it came from, by its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `active`, `superseded`, `compacted` or `forgotten`.
    pub status: String,
    /// 0 to 1 at this moment.
    pub confidence: Confidence,
    /// Its confidence does not fade.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// Its first line, at most 80 characters.
    pub preview: String,
}

/// Part of an id, for which the memories are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindRequest {
    /// The beginning or the end of an id, at least 4 characters.
    pub part: String,
}

/// The memories whose id begins or ends so, of every project and status, newest first, at most 10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindReply {
    /// The memories.
    pub memories: Vec<Found>,
}

/// A memory that was found by a part of its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The memory in one line.
    #[serde(flatten)]
    pub memory: Listed,
    /// The asker's project sees it.
    pub visible: bool,
    /// The project that it came from, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
}

/// How a memory is changed in place. Agents store a new one with `supersedes` instead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// Which memory.
    pub memory_id: MemoryId,
    /// The new text.
    #[serde(default)]
    pub content: Option<String>,
    /// The new details, in place of all the old ones.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// The new scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// How sure it is from now on.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// When its time is over, a date or a moment (RFC 3339); `never` takes the end away.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// Another project than the working directory's.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Whether a memory's confidence fades.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinRequest {
    /// Which memory.
    pub memory_id: MemoryId,
    /// True: it does not fade. False: it does, from its present confidence on.
    pub pinned: bool,
    /// Another project than the working directory's.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// A change in place was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedReply {
    /// Which memory.
    pub id: MemoryId,
    /// What was changed, for example `content`; empty when all was so before.
    pub changed: Vec<String>,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// Which memories to forget at once: those that the list would show.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetManyRequest {
    /// Which memories.
    pub memory_ids: Vec<MemoryId>,
    /// Why; kept.
    #[serde(default)]
    pub reason: Option<String>,
    /// Another project than the working directory's.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// What became of them: one act.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForgetManyReply {
    /// One for each id, in their order.
    pub forgotten: Vec<ForgetReply>,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
