//! An association: a memory linked to a result. Part of the replies of [`super::recall`] and [`super::wander`].

use crate::memory::MemoryId;
use serde::{Deserialize, Serialize};

/// What links a memory to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssociationLink {
    /// An entity that both mention, or entities that are related.
    Graph,
    /// They are of the same day.
    Time,
    /// One was stored next to the other.
    Adjacent,
}

/// A memory that no search finds, but that is linked to a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Association {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
    /// What links it.
    pub why: AssociationLink,
    /// The result that it is linked to.
    pub from: MemoryId,
    /// With `graph`: the names of the entities on the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// With `time`: the day of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Relevance × (1 - obviousness) × distance, 0.1 to 1.
    pub score: f64,
    /// Who stored it, if it was not this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The project that stored it, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Why it is held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
}
