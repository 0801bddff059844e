//! `review`: lists pairs of memories that look like two versions of one fact, and records which to keep (`loci review`).
//!
//! Request:
//! ```json
//! {"limit": 20}
//! ```
//! Reply:
//! ```json
//! {"pairs": [{"newer": {"id": "01953a2b-7c1e-7000-8000-0123456789ac", "preview": "The server is called egret", "created_at": "2026-02-01T12:30:00Z"},
//!  "older": {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "preview": "The server is called heron", "created_at": "2026-01-05T09:00:00Z"},
//!  "cosine": 0.79, "looks_like": "other value"}], "examined": 120}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use crate::requests::list::ListedMemory;
use crate::wish::WishKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `review`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// Maximum pairs, 1 to 100; 20 by default.
    #[serde(default)]
    pub limit: Option<usize>,
    /// `next` of the previous page.
    #[serde(default)]
    pub before: Option<i64>,
    /// Also list pairs of which both were kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Keep both memories with these two ids: the pair is not listed again. Lists nothing.
    #[serde(default)]
    pub keep: Option<Vec<MemoryId>>,
    /// List the pair of these two memories again, of which both were kept. Lists nothing.
    #[serde(default)]
    pub unkeep: Option<Vec<MemoryId>>,
    /// Decline what agents asked to do to these memories. Lists nothing.
    #[serde(default)]
    pub decline: Option<Vec<MemoryId>>,
    /// With `decline`: only the wish of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<WishKind>,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

impl ReviewRequest {
    /// Returns whether it records a decision; otherwise it lists.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.keep.is_some() || self.unkeep.is_some() || self.decline.is_some()
    }
}

/// Reply of `review`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReviewReply {
    /// Memories of all projects for which agents have wishes; on the first page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wished: Vec<ListedMemory>,
    /// The pairs; those with the newest memory first.
    pub pairs: Vec<ReviewPair>,
    /// Number of memories that were compared with older ones.
    pub examined: usize,
    /// `before` of the next page; absent if there is none. A page may be empty and have a next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// True if `keep` recorded a decision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// True if `unkeep` took one back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unkept: bool,
    /// Number of wishes that `decline` ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<usize>,
}

/// Two memories that look like versions of one fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewPair {
    /// The one that was stored later.
    pub newer: ReviewedMemory,
    /// The other one.
    pub older: ReviewedMemory,
    /// The cosine of their vectors.
    pub cosine: f64,
    /// `other value`: they differ in one short part. `near`: their vectors are near. `same fact`: they look like duplicates.
    pub looks_like: String,
}

/// A memory of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
    /// ISO 8601, UTC.
    pub created_at: String,
    /// The project that stored it, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}
