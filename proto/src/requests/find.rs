//! `find`: finds memories of every project and status by the beginning or end of their id (`loci inspect 6789ab`).
//!
//! Request:
//! ```json
//! {"part": "6789ab"}
//! ```
//! Reply:
//! ```json
//! {"memories": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "semantic", "scope": "global", "status": "active", "confidence": 1.0,
//!  "trust": "agent", "created_at": "2026-01-05T09:00:00Z", "preview": "Anna prefers tabs over spaces.", "visible": true}]}
//! ```

use crate::requests::list::ListedMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `find`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindRequest {
    /// First or last characters of an id, at least 4.
    pub part: String,
}

/// Reply of `find`: at most 10 memories, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindReply {
    /// The memories.
    pub memories: Vec<FoundMemory>,
}

/// A memory whose id begins or ends with the given part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundMemory {
    /// The memory as a line of a list.
    #[serde(flatten)]
    pub memory: ListedMemory,
    /// True if the caller's project can see it.
    pub visible: bool,
    /// Id of the project that it was stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
}
