//! Body of `GET /cost` on the admin socket: what was sent to an embedding API, by day (`loci ctl cost`).

use serde::{Deserialize, Serialize};

/// What was sent on one day, in the time zone of the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostDay {
    /// The day, as `2026-03-01`.
    pub day: String,
    /// Number of calls.
    pub calls: u64,
    /// Calls without a usable answer.
    pub failed: u64,
    /// Number of texts, each a memory, a part of a long one, or a query.
    pub texts: u64,
    /// Tokens as the provider counts them; those of a call without an answer are estimated.
    pub tokens: u64,
    /// The cost, if `embedding.price` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Reply of `GET /cost`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostReply {
    /// `local`, `openai` or `voyage`.
    pub provider: String,
    /// Where texts are sent; absent with `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Maximum number of tokens of one day; absent with `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_tokens: Option<u64>,
    /// Price of a million tokens, if `embedding.price` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// True if nothing more is sent today because of the limit.
    pub is_limited: bool,
    /// What a person should know about today, in sentences.
    pub alerts: Vec<String>,
    /// The days on which something was sent, the latest first; at most 90.
    pub days: Vec<CostDay>,
}
