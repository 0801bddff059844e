//! `facets`: counts the memories that a list selects, by type, project, client, trust, status and month (the viewer).
//!
//! Request: that of `list`; page and order are ignored.
//! ```json
//! {"status": "active", "all_groups": true}
//! ```
//! Reply:
//! ```json
//! {"total": 2, "type": [{"value": "semantic", "count": 2}], "project": [{"value": "g_0123456789abcdef", "name": "shop", "count": 2}],
//!  "client": [{"value": "claude-code 2.0", "count": 2}], "trust": [{"value": "agent", "count": 2}],
//!  "status": [{"value": "active", "count": 2}], "month": [{"value": "2026-02", "count": 2}]}
//! ```

use crate::requests::list::ListRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `facets`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FacetsRequest(pub ListRequest);

/// Reply of `facets`. Each facet is counted with all filters of the request but its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FacetsReply {
    /// Number of memories that pass all filters.
    pub total: usize,
    /// By type.
    #[serde(rename = "type")]
    pub kind: Vec<FacetCount>,
    /// By the id of the project in which they were stored; `name` is its display name.
    pub project: Vec<FacetCount>,
    /// By who stored them, as in the filter `client` of `list`.
    pub client: Vec<FacetCount>,
    /// By trust.
    pub trust: Vec<FacetCount>,
    /// By status.
    pub status: Vec<FacetCount>,
    /// By the month of the event, else that of storing, latest first.
    pub month: Vec<FacetCount>,
}

/// Number of memories with one value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FacetCount {
    /// The value.
    pub value: String,
    /// Its display name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many memories have it.
    pub count: usize,
}
