//! `pin`: pins or unpins one memory (`loci pin`, `loci pin --off`). The confidence of a pinned memory does not decay.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab", "pinned": true}
//! ```
//! Reply ([`crate::requests::edit::ChangedReply`]):
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "changed": ["pinned"], "act": 18}
//! ```

use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `pin`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinRequest {
    /// Id of the memory.
    pub memory_id: MemoryId,
    /// True: its confidence does not decay. False: it decays, starting from its current value.
    pub pinned: bool,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}
