//! `topics`: groups the memories that a project sees by what they are about (`loci topics`).
//!
//! Request:
//! ```json
//! {"count": 8}
//! ```
//! Reply:
//! ```json
//! {"topics": [{"name": "deploy, heron, tag", "count": 12, "example": {"id": "01953a2b-7c1e-7000-8000-0123456789ab",
//!  "preview": "To deploy, push the tag."}}], "grouped": 12, "without_vector": 1}
//! ```

use crate::group::GroupName;
use crate::memory::{MemoryId, MemoryType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `topics`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicsRequest {
    /// Only this type.
    #[serde(default, rename = "type")]
    pub kind: Option<MemoryType>,
    /// Only memories that were stored in the project, without global memories of other projects.
    #[serde(default)]
    pub from_group: bool,
    /// Another project than that of the working directory.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Number of topics, 1 to 50; without it their number decides: the square root of half of the memories, at most 24.
    #[serde(default)]
    pub count: Option<usize>,
}

/// Reply of `topics`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TopicsReply {
    /// The topics, the largest first.
    pub topics: Vec<Topic>,
    /// Number of memories in all topics.
    pub grouped: usize,
    /// Number of memories that are in no topic, because they wait for the model.
    pub without_vector: usize,
}

/// What some memories are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    /// At most three words that are frequent in it and rare in the others; empty if there are none.
    pub name: String,
    /// Number of its memories.
    pub count: usize,
    /// The memory that is nearest to its centre.
    pub example: TopicExample,
}

/// A memory that stands for a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicExample {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
}

/// Results of a recall that are about the same; part of the reply of [`super::recall`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultCluster {
    /// As of [`Topic`].
    pub name: String,
    /// Ids of the results, best first.
    pub ids: Vec<MemoryId>,
}
