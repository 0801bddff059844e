//! `injected`: lists what hooks delivered to clients, and what they withheld.
//!
//! Request:
//! ```json
//! {"session": "8b1f", "limit": 20}
//! ```
//! Reply:
//! ```json
//! {"receipts": [{"at": "2026-02-01T09:00:00.000Z", "client": "claude", "event": "prompt", "session": "8b1f1d0e", "project": "shop",
//!   "outcome": "delivered", "reason": "matches the prompt", "tokens": 30,
//!   "memories": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "preview": "Deploy with just ship"}]}], "more": false, "group": "shop"}
//! ```

use crate::memory::MemoryId;
use crate::off::OffReason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `injected`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectedRequest {
    /// Only this session: the client's own id, or its beginning.
    #[serde(default)]
    pub session: Option<String>,
    /// Maximum number of receipts, newest first; 20 by default.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Also list events at which nothing was delivered or withheld.
    #[serde(default)]
    pub all: bool,
}

/// Reply of `injected`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedReply {
    /// Newest first.
    pub receipts: Vec<Receipt>,
    /// True if there are older ones.
    #[serde(default)]
    pub more: bool,
    /// Display name of the caller's project.
    #[serde(default)]
    pub group: String,
    /// Why loci is off in that project, or in the session of the request if that is its full id; absent if it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<OffReason>,
}

/// What happened at one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// ISO 8601, UTC.
    pub at: String,
    /// The client.
    pub client: String,
    /// The event.
    pub event: String,
    /// The client's own id of the session; empty if it gave none.
    pub session: String,
    /// The project; absent if nothing is stored in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// `delivered`, `silent`, `reset`, `stored`, `reminded`, `closed` or `missed`.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// Size of the text in tokens.
    pub tokens: u64,
    /// The memories that were delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<ReceiptMemory>,
    /// The memories that were found and not delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<ReceiptMemory>,
}

/// A memory of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
    /// Why it was withheld: `weak`, `less relevant`, `already delivered`, `budget` or `untrusted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The text was changed since; the preview is that of the present text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}
