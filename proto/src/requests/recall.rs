//! `recall_memory`: searches memories by meaning and words, or returns those with the given ids in full.
//!
//! Request:
//! ```json
//! {"query": "What does Anna prefer?", "max_results": 3, "summary_only": true, "token_budget": 500}
//! ```
//! Reply:
//! ```json
//! {"results": [{"id": "01953a2b-7c1e-7000-8000-0123456789ab", "type": "semantic", "preview": "Anna prefers tabs over spaces.", "score": 0.71}],
//!  "total_matched": 1, "token_estimate": 52}
//! ```

use crate::as_of::AsOf;
use crate::bounded_numbers::{MaxResults, TokenBudget};
use crate::degraded::Degraded;
use crate::group::GroupName;
use crate::memory::{Confidence, MemoryId, MemoryType, QueryKind, Scope, SoughtStatus};
use crate::requests::association::Association;
use crate::requests::explain::{RecallExplanation, ScoreBreakdown};
use crate::requests::relate::Relation;
use crate::requests::topics::ResultCluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments of `recall_memory`: either `query` or `ids`. Models read the comments of the fields that are not marked as unlisted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The question, in the user's own words.
    #[serde(default)]
    pub query: Option<String>,
    /// Memories to return in full.
    #[serde(default)]
    pub ids: Option<Vec<MemoryId>>,
    /// Only this type.
    #[serde(default, rename = "type")]
    #[schemars(extend("x-unlisted" = true))]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub scope: Option<Scope>,
    /// Another project, by the name in replies.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Default 5.
    #[serde(default)]
    pub max_results: Option<MaxResults>,
    /// First lines only.
    #[serde(default)]
    pub summary_only: bool,
    /// Maximum size of the reply in tokens.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub token_budget: Option<TokenBudget>,
    /// Without it faded memories come last.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub min_confidence: Option<Confidence>,
    /// Only with this `category` in the metadata: `preference`, `decision`, `project_state`, `fact` or any other.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub category: Option<String>,
    /// Only with this `subject` in the metadata.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub subject: Option<String>,
    /// First day: 2026-01-31.
    #[serde(default)]
    pub date_from: Option<String>,
    /// Last day, inclusive.
    #[serde(default)]
    pub date_to: Option<String>,
    /// As it was known on this day.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub as_of: Option<String>,
    /// The date or time at which facts should be true; default now.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub valid_at: Option<String>,
    /// Include score breakdowns.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub explain: bool,
    /// Also dormant memories (`maintenance.dormant_threshold`).
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub include_dormant: bool,
    /// Also linked memories.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub associations: bool,
    /// If nothing matches, return the nearest.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub nearest: bool,
    /// Also say which results are about the same.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub cluster: bool,
    /// Don't count as usage.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub dry_run: bool,
    /// Only candidates, or only rejected attempts.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub status: Option<SoughtStatus>,
    /// The kind of the query; without it the text decides.
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub query_kind: Option<QueryKind>,
}

/// Reply of `recall_memory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct RecallReply {
    /// The memories: best first for a query, in the order of the ids otherwise.
    pub results: Vec<RecalledMemory>,
    /// Number of memories that pass the filters and contain a query term or have a cosine of at least 0.25.
    pub total_matched: usize,
    /// Size of this reply in tokens: characters of its compact JSON, divided by four.
    pub token_estimate: usize,
    /// At most three memories that the search does not find, but that are linked to its results; only with `associations`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub associations: Vec<Association>,
    /// The results by what they are about, the group of the best result first; only with `cluster`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ResultCluster>,
    /// Requested ids that this session cannot see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MemoryId>,
    /// Ids of results that were omitted because of the token budget; only as many as fit the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<MemoryId>,
    /// Number of results that were omitted because of the token budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_count: usize,
    /// True if the query was longer than the limit and was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// True if even the best result is unlikely to be an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// True if not even the first result fits the token budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token_budget_too_small: bool,
    /// Number of memories left after each step; only with `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<RecallExplanation>,
    /// The part of the request that could not be followed, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The session's project, if its folder does not name it. A call that names another project gets that name with each result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The time at which the store was searched; only with `as_of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// The parts that do not work at the moment.
    #[serde(flatten)]
    pub degraded: Degraded,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One result: in full (`content` and more) or as a `preview`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecalledMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<MemoryType>,
    /// First line, at most 80 characters; only with `summary_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The full text; not with `summary_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Current confidence, 0 to 1; not with `summary_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Relevance to the query; absent for results requested by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// ISO 8601, UTC; with `summary_only` only the date, and only next to `by` or `flagged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Not with `summary_only`. Absent in a reply to an agent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Who stored it, if it was not this client: the name of another client, `person`, `import` or `maintenance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The project that stored it, if it is not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Why it is held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// The day of its event as its text names it; absent if the metadata has an `event_date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_date_derived: Option<String>,
    /// True if its confidence is below 0.1. Without `min_confidence` faded results come after the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faded: bool,
    /// Why it is not true at the time: `valid until 2026-06-30` or `valid from …`. Such results come after the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// `dormant` if its confidence fell below `maintenance.dormant_threshold`; `candidate` if no person has confirmed it; `rejected` if it was tried and given up; `superseded`, `compacted` or `forgotten` if a
    /// memory requested by id is no longer active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why the attempt was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// Attempts at the same matter that were given up, and are not results of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// `error` if it mends the error that the query is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// How many of the files that it speaks of have changed since it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// The memory that replaced this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// A result that states a newer value of this fact. Nothing says that it replaces this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_version_of: Option<MemoryId>,
    /// For a summary: the summarised memories that match the query, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Direct relations of an entity, at most 10; not with `summary_only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// Memories that state the same and are not listed as results of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<MemoryId>,
    /// How the score was calculated; only with `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ScoreBreakdown>,
}

/// An attempt that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
    /// Why it was given up.
    pub why: String,
}

/// A memory that a summary replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Id of the memory.
    pub id: MemoryId,
    /// First line, at most 80 characters.
    pub preview: String,
}
