//! `reembed`: encodes all memories again, by the configured model, or shows the state of that (`loci re-embed`).
//!
//! Request:
//! ```json
//! {"action": "start", "force": true}
//! ```
//! Reply:
//! ```json
//! {"active": {"id": "all-MiniLM-L6-v2", "state": "ready"}, "configured": {"id": "custom-0f1e2d3c4b5a6978", "state": "ready"},
//!  "re_embedding": {"from": "all-MiniLM-L6-v2", "to": "custom-0f1e2d3c4b5a6978", "done": 1024, "total": 10000, "state": "running"},
//!  "to_encode": 8976, "declined": false,
//!  "kept": [{"id": "custom-1111222233334444", "set": "custom-1111222233334444", "complete": true, "kept_until": "2026-02-08T00:00:00Z"}]}
//! ```

use crate::admin::ReembeddingStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Action of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReembedAction {
    /// Return the state, and how many memories `start` would encode.
    #[default]
    Status,
    /// Encode the memories by the configured model, or resume that.
    Start,
    /// Give a re-embedding up; without one, return to the vectors that were used before.
    Cancel,
    /// Delete the kept vectors of earlier models.
    DropKept,
}

/// Arguments of `reembed`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReembedRequest {
    /// `status` (the default), `start`, `cancel` or `drop_kept`.
    #[serde(default)]
    pub action: ReembedAction,
    /// With `start`: encode all memories again also if the vectors in use are of the configured model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// A model of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedModel {
    /// Its id; empty until it is known.
    pub id: String,
    /// `loading`, `ready`, `missing` or `failed`.
    pub state: String,
}

/// Vectors of an earlier model, or of one that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptVectors {
    /// The id of the model.
    pub id: String,
    /// The name of the vector set.
    pub set: String,
    /// True if the set was in use; false if its filling was given up.
    pub complete: bool,
    /// When the vectors are deleted, ISO 8601, UTC.
    pub kept_until: String,
}

/// Texts that are sent to the API of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTexts {
    /// The host.
    pub host: String,
    /// About how many tokens the texts have.
    pub tokens: u64,
    /// Maximum number of tokens of one day.
    pub daily_tokens: u64,
}

/// Reply of `reembed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReembedReply {
    /// The model of the vectors in use.
    pub active: NamedModel,
    /// The configured model.
    pub configured: NamedModel,
    /// The re-embedding in progress; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re_embedding: Option<ReembeddingStatus>,
    /// Number of memories that are still to be encoded, or that `start` would encode.
    pub to_encode: u64,
    /// What of it leaves this machine; absent for a model on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sends: Option<SentTexts>,
    /// True if the configured model was declined (`cancel`): it is used only after `start`.
    pub declined: bool,
    /// The vectors that are kept for a return to them, the latest first.
    pub kept: Vec<KeptVectors>,
}
