//! `confirm`: a person confirms memories (`loci confirm`): trust becomes `person`, and flags are cleared.
//!
//! Request:
//! ```json
//! {"memory_id": "01953a2b-7c1e-7000-8000-0123456789ab"}
//! ```
//! Reply:
//! ```json
//! {"confirmed": 1, "id": "01953a2b-7c1e-7000-8000-0123456789ab", "act": 19}
//! ```

use crate::error::Failure;
use crate::group::GroupName;
use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `confirm`: exactly one of `memory_id` and `imported`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRequest {
    /// Id of one memory, with or without flags.
    #[serde(default)]
    pub memory_id: Option<MemoryId>,
    /// All imported memories without flags, of every project.
    #[serde(default)]
    pub imported: bool,
    /// Count the memories without changing them.
    #[serde(default)]
    pub preview: bool,
    /// With `imported`: `selection` of the preview that the person was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
}

/// The memories that a request selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmTarget {
    /// The memory with this id.
    One(MemoryId),
    /// All imported memories without flags.
    Imported,
}

impl ConfirmRequest {
    /// Returns the memories that the request selects.
    ///
    /// # Errors
    /// `invalid` if none or both of the two arguments are given.
    pub fn target(&self) -> Result<ConfirmTarget, Failure> {
        match (&self.memory_id, self.imported) {
            (Some(id), false) => Ok(ConfirmTarget::One(id.clone())),
            (None, true) => Ok(ConfirmTarget::Imported),
            _ => {
                Err(Failure::invalid("memory_id", "or imported is required, and only one of them"))
            }
        }
    }
}

/// Reply of `confirm`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfirmReply {
    /// Number of memories that were confirmed, or would be with `preview`; 0 if there was nothing to confirm.
    pub confirmed: usize,
    /// Id of the memory, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// With `imported` and `preview`: tells these memories with their texts from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// With `imported` and `preview`: the first of the memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<MemoryId>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}
