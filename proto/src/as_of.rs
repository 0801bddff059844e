//! How a reply says at which time it shows the store.

use serde::{Deserialize, Serialize};

/// The time at which a reply shows the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsOf {
    /// The time, ISO 8601, UTC.
    pub at: String,
    /// The history of the store is complete from this time on, ISO 8601, UTC.
    pub history_from: String,
    /// What the reply may lack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
