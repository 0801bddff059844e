//! `list`: lists memories by attribute (`loci list`).
//!
//! Request:
//! ```json
//! {"type": "episodic", "status": "active", "older_than_seconds": 86400, "limit": 10}
//! ```
//! Reply:
//! ```json
//! {"memories": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "episodic", "scope": "group", "group": "shop", "status": "active",
//!  "confidence": 0.8, "origin": "agent", "client": "claude-code 2.0", "trust": "agent", "created_at": "2026-01-05T09:00:00Z", "preview": "Anna moved the shop to Postgres 17."}], "total": 11, "next": 41}
//! ```

use crate::as_of::AsOf;
use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, Provenance, Scope, Trust};
use crate::wish::Wish;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `list`: filters that are combined with AND, and the page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Only this type.
    #[serde(default, rename = "type")]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// `active` (the default), `superseded`, `compacted`, `forgotten`, `candidate`, `rejected`, `expired`, `pinned`, `flagged`,
    /// `dormant` or `all`.
    #[serde(default)]
    pub status: Option<String>,
    /// Only memories with flags.
    #[serde(default)]
    pub flags: bool,
    /// Only memories that are held back until a person confirms them: imported or with flags.
    #[serde(default)]
    pub held: bool,
    /// Only memories for which an agent or a script has a wish; `wishes` of each says which.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wished: bool,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// All projects.
    #[serde(default)]
    pub all_groups: bool,
    /// Only memories that were stored in the project, without global memories of other projects.
    #[serde(default)]
    pub from_group: bool,
    /// Only memories without a declared category.
    #[serde(default)]
    pub uncategorised: bool,
    /// Only memories whose text contains this, ignoring case.
    #[serde(default)]
    pub text: Option<String>,
    /// Only memories about this tool: it is `tool` of their metadata.
    #[serde(default)]
    pub tool: Option<String>,
    /// Only memories with this `category` in their metadata, ignoring case; of statements from transcripts it is `kind`.
    #[serde(default)]
    pub category: Option<String>,
    /// Only memories with this `subject` in their metadata, ignoring case.
    #[serde(default)]
    pub subject: Option<String>,
    /// Only memories stored at least this many seconds ago.
    #[serde(default)]
    pub older_than_seconds: Option<i64>,
    /// First day or time (RFC 3339), inclusive. The day of a memory is that of its event, else the day when it was stored.
    #[serde(default)]
    pub date_from: Option<String>,
    /// Last day or time (RFC 3339), inclusive.
    #[serde(default)]
    pub date_to: Option<String>,
    /// Only memories whose confidence is below this.
    #[serde(default)]
    pub confidence_below: Option<Confidence>,
    /// Only memories stored by this client: its name, or `person`, `import` or `maintenance`; ignoring case.
    #[serde(default)]
    pub client: Option<String>,
    /// Only memories of this trust.
    #[serde(default)]
    pub trust: Option<Trust>,
    /// Only these memories, at most 1000, in this order; the other filters apply to them too.
    #[serde(default)]
    pub ids: Option<Vec<MemoryId>>,
    /// Also return the beginning of each text: at most this many characters, 1 to 40000.
    #[serde(default)]
    pub text_chars: Option<usize>,
    /// In the order `newest`: read only as far as the page needs. `total` then counts the page alone.
    #[serde(default)]
    pub uncounted: bool,
    /// The order; default `newest`.
    #[serde(default)]
    pub sort: ListOrder,
    /// Show the store as it was known then: a day (its end), a time or a time ago: yesterday, 2026-11-01, 3d.
    #[serde(default)]
    pub as_of: Option<String>,
    /// Only memories that come after this one in the order: `next` of the previous page.
    #[serde(default)]
    pub before: Option<i64>,
    /// Memories per page, 1 to 1000; default 50.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// By the time of storing, latest first; that of an imported memory is the time in its source.
    #[default]
    Newest,
    /// By the same time, earliest first.
    Oldest,
    /// By the day of the event, else the day of storing; latest first.
    Day,
    /// Most often returned in full or stored again first.
    Used,
    /// Highest confidence first.
    Confidence,
}

impl ListOrder {
    /// All orders with their names.
    pub const ALL: [(&str, Self); 5] = [
        ("newest", Self::Newest),
        ("oldest", Self::Oldest),
        ("day", Self::Day),
        ("used", Self::Used),
        ("confidence", Self::Confidence),
    ];
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &i64) -> bool {
    *count == 0
}

/// Reply of `list`: one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListReply {
    /// The memories.
    pub memories: Vec<ListedMemory>,
    /// Number of memories on all pages.
    pub total: usize,
    /// Value of `before` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// The time at which the store is shown; only with `as_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A memory as a line of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its scope.
    pub scope: Scope,
    /// Display name of the project that it was stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `active`, `superseded`, `compacted`, `forgotten`, `candidate` or `rejected`.
    pub status: String,
    /// Current confidence, 0 to 1.
    pub confidence: Confidence,
    /// True if its confidence does not decay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Who stored it, and how far it is trusted.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// Its declared category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// `never` or `always`, if a person said so of texts that nobody asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<String>,
    /// `event_date` of its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_date: Option<String>,
    /// The day of its event as its text names it; absent if the metadata has an `event_date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_date_derived: Option<String>,
    /// `valid_from` of its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// `valid_to` of its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<String>,
    /// Why it was given up; only if its status is `rejected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// How often it was returned in full or stored again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub access_count: i64,
    /// Changes with its text: what a person decides about it can be bound to what they were shown.
    #[serde(default)]
    pub version: String,
    /// First line, at most 80 characters.
    pub preview: String,
    /// The beginning of the text; only with `text_chars`. With a filter for a text it begins near the first match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What agents asked to do to it and only a person may do; only with `wished`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<Wish>,
}
