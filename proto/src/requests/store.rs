//! `store_memory`: stores a memory.
//!
//! Request:
//! ```json
//! {"content": "Anna prefers tabs over spaces.", "type": "semantic", "category": "preference", "metadata": {"subject": "Anna"}, "confidence": 0.9}
//! ```
//! Reply:
//! ```json
//! {"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "semantic", "deduplicated": false, "superseded": null}
//! ```
#![expect(
    clippy::doc_markdown,
    reason = "the field comments are sent to models as the tool's schema; back ticks would cost tokens"
)]

use crate::bounded_numbers::TtlSeconds;
use crate::degraded::Degraded;
use crate::group::GroupName;
use crate::memory::{Category, Confidence, MemoryId, MemoryType, Scope};
use crate::requests::relate::MemoryPreview;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Arguments of `store_memory`. Models read the comments of the fields that are not marked as unlisted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreRequest {
    /// One complete statement.
    pub content: String,
    /// episodic: event, decision; semantic: fact, rule, preference; procedural: steps; entity: person, thing.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// group: belongs to this project; global: about the user, or true in every project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// What it is: briefs hold rules, preferences, procedures and the open state first.
    #[serde(default)]
    pub category: Option<Category>,
    /// Also any other keys.
    #[serde(default)]
    #[schemars(schema_with = "metadata_schema")]
    pub metadata: Map<String, Value>,
    /// 1 to 3 questions that it answers, in other words.
    #[serde(default)]
    pub questions: Option<Vec<String>>,
    /// Id of the stored memory that this one changes.
    #[serde(default)]
    pub supersedes: Option<MemoryId>,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Default 1.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub confidence: Option<Confidence>,
    /// Last day on which it holds: 2026-01-31.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// The first date or time (RFC 3339) at which it is true, kept in the metadata.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub valid_from: Option<String>,
    /// The last date or time at which it is true, kept in the metadata.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub valid_to: Option<String>,
    /// Lifetime, in place of expires_at.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub ttl_seconds: Option<TtlSeconds>,
}

/// Returns the schema of the metadata: the keys that a model should know. All others are accepted.
fn metadata_schema(_: &mut SchemaGenerator) -> Schema {
    let text = |description: &str| json!({"type": "string", "description": description});
    json_schema!({"type": "object", "properties": {
        "error": text("The error message that it mends, word for word."),
        "event_date": text("2026-01-31."),
        "name": text("Of an entity."),
    }})
}

impl StoreRequest {
    /// A request with the defaults of everything but text and type.
    #[must_use]
    pub fn new(content: impl Into<String>, kind: MemoryType) -> Self {
        Self {
            content: content.into(),
            kind,
            scope: None,
            category: None,
            metadata: Map::new(),
            questions: None,
            supersedes: None,
            group: None,
            confidence: None,
            expires_at: None,
            ttl_seconds: None,
            valid_from: None,
            valid_to: None,
        }
    }
}

/// Reply of `store_memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreReply {
    /// The new memory, or the existing memory that has the same wording.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// True if an existing memory has the same wording and was reinforced instead.
    pub deduplicated: bool,
    /// That memory, with the beginning of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MemoryPreview>,
    /// The number of the merge or supersession: `loci undo NUMBER` takes it back. Another wording becomes a memory of its own then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
    /// The memory that this one replaced.
    pub superseded: Option<MemoryId>,
    /// The project that it was stored in, if it is not the obvious one: another than the session's own, or one that the folder does not name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The date of "yesterday" or another relative day at the start or the end of the text; it is in the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_date: Option<String>,
    /// When the memory expires, ISO 8601, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Memories that may be about the same thing, the likeliest first; supersede one if it is out of date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<MemoryId>,
    /// Of these, those that probably state another value of the same fact. `loci review` lists them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MemoryId>,
    /// The same memories with their first lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar_texts: Vec<MemoryPreview>,
    /// Hidden characters that were removed from the text or the metadata, for example `ansi escape at 10`; positions in characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitized: Vec<String>,
    /// What was replaced in the texts, for example `github-token at 17..57` (characters).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Why the text is held back, for example `override`: the memory has scope group, and is in no brief and not promoted
    /// until a person confirms it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// The more trusted memory that this one could not replace or merge with, and the next step: it was stored beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// What the call asked for and did not get, or the next step, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The parts that do not work at the moment.
    #[serde(flatten)]
    pub degraded: Degraded,
}
