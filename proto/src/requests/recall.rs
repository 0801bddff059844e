//! `recall_memory`: what it takes and what it gives.

use crate::group::GroupName;
use crate::limits;
use crate::memory::{Confidence, MemoryId, MemoryType, Scope};
use crate::requests::explain::{Explained, Why};
use crate::requests::relate::Relation;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Either a question (`query`), or memories to show in full (`ids`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// What you want to know. Needed unless ids are given.
    #[serde(default)]
    pub query: Option<String>,
    /// Memories to show in full.
    #[serde(default)]
    pub ids: Option<Vec<MemoryId>>,
    /// Only this type.
    #[serde(default, rename = "type")]
    pub kind: Option<MemoryType>,
    /// Only this scope.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Another project than this one.
    #[serde(default)]
    pub group: Option<GroupName>,
    /// Default 5.
    #[serde(default)]
    pub max_results: Option<MaxResults>,
    /// Previews only.
    #[serde(default)]
    pub summary_only: bool,
    /// Most tokens of the answer.
    #[serde(default)]
    pub token_budget: Option<TokenBudget>,
    /// Default 0.1.
    #[serde(default)]
    pub min_confidence: Option<Confidence>,
    /// The first day or moment.
    #[serde(default)]
    pub date_from: Option<String>,
    /// The last day or moment.
    #[serde(default)]
    pub date_to: Option<String>,
    /// Say how each score came about.
    #[serde(default)]
    pub explain: bool,
    /// Count nothing as used.
    #[serde(default)]
    pub dry_run: bool,
}

/// A whole number within bounds, refused in words that name the bounds.
macro_rules! whole_number {
    ($(#[$doc:meta])* $name:ident, $min:expr, $max:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(i64);

        impl $name {
            /// The number, if it is within bounds.
            ///
            /// # Errors
            /// Anything outside the bounds, in words.
            pub fn new(value: i64) -> Result<Self, String> {
                if ($min..=$max).contains(&value) { Ok(Self(value)) } else { Err($expected.to_owned()) }
            }

            /// As a count.
            #[must_use]
            pub fn get(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(d)?.as_i64().ok_or_else(|| D::Error::custom($expected))?;
                Self::new(value).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                if $max == i64::MAX {
                    json_schema!({"type": "integer", "minimum": $min})
                } else {
                    json_schema!({"type": "integer", "minimum": $min, "maximum": $max})
                }
            }
        }
    };
}

whole_number!(
    /// How many results at the most, 1 to 20.
    MaxResults, 1_i64, limits::MAX_RESULTS, "must be a whole number in 1..20"
);
whole_number!(
    /// How many tokens at the most, 0 or more; a token is four characters.
    TokenBudget, 0_i64, i64::MAX, "must be a whole number, 0 or more"
);

whole_number!(
    /// How long a memory holds, in seconds: 1 to 10 years.
    TtlSeconds, 1_i64, 315_360_000_i64, "must be a whole number of seconds in 1..315360000"
);

/// The memories found, best first (or in the order of the ids asked for).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct RecallReply {
    /// Best first, or in the order of the ids.
    pub results: Vec<Recalled>,
    /// Memories that pass the filters and have a word of the query or a cosine of at least 0.25.
    pub total_matched: usize,
    /// Characters of this answer as compact JSON, divided by four.
    pub token_estimate: usize,
    /// Ids asked for that this session cannot see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MemoryId>,
    /// Ids of results that the token budget left out, as far as they fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<MemoryId>,
    /// How many results the token budget left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_count: usize,
    /// The query was longer than what is read of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Not even the best result is likely to be an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// Not even the first result fits the token budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token_budget_too_small: bool,
    /// How many memories each step left; where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explained>,
    /// What was not done as asked, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What does not work at the moment, and what to do about it.
    #[serde(flatten)]
    pub degraded: Degraded,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One memory of an answer: in full (`content` …) or as a `preview`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Which memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The first line, at most 80 characters; in summaries alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The whole text; in full answers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// 0 to 1 at this moment; in full answers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How well it answers the query; none when asked for by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// ISO 8601, UTC; in full answers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// In full answers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// `superseded`, `compacted` or `forgotten` when a memory asked for by id is no longer active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The memory that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Of a summary, the memories below it for which it is given, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Direct relations of an entity; in full answers alone, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// Memories that say the same and are not given again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<MemoryId>,
    /// How the score came about; where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// A memory that a summary stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Which memory.
    pub id: MemoryId,
    /// Its first line, at most 80 characters.
    pub preview: String,
}

/// What does not work at the moment. Empty when all is well, and then not sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Degraded {
    /// The parts that are out, for example `embedding`.
    #[serde(default, rename = "degraded", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// What to do about it, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
