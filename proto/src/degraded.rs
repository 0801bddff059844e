//! `degraded` and `hint` in replies: the parts of the daemon that do not work at the moment.

use serde::{Deserialize, Serialize};

/// The parts that do not work at the moment. Flattened into replies; omitted when everything works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Degraded {
    /// The parts, for example `embedding`.
    #[serde(default, rename = "degraded", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// How to repair them, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The embedding model whose vectors are searched; given while the store changes to another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}
