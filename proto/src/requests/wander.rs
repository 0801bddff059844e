//! `wander`: walks from memory to memory along associations (`loci wander`).
//!
//! Request:
//! ```json
//! {"start": "01953a2b-7c1e-7000-8000-0123456789ab", "steps": 3}
//! ```
//! Reply:
//! ```json
//! {"start": {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "preview": "Anna reports to Piotr."},
//!  "steps": [{"id": "01953a2b-7c1e-7000-8000-0123456789ac", "preview": "Piotr has moved to Gdynia.", "why": "graph",
//!  "from": "01953a2b-7c1e-7000-8000-0123456789ab", "via": ["Piotr"], "score": 0.42}]}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use crate::requests::association::Association;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `wander`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WanderRequest {
    /// The memory to start from; without it the date chooses one.
    #[serde(default)]
    pub start: Option<MemoryId>,
    /// The date that chooses the start; default today.
    #[serde(default)]
    pub date: Option<String>,
    /// Steps of the walk, 1 to 20; default 5.
    #[serde(default)]
    pub steps: Option<usize>,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// Reply of `wander`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WanderReply {
    /// The memory where the walk begins; absent if the project sees none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<WanderStart>,
    /// The memories of the walk; it ends where nothing is linked.
    pub steps: Vec<Association>,
}

/// The memory where a walk begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WanderStart {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
}
