//! `maintenance` and `cleanup`: what people ask of the lifecycle, and what they are told.

use crate::memory::{Confidence, MemoryId, MemoryType, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do about maintenance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Say how it stands.
    #[default]
    Status,
    /// Show what a run would do.
    Plan,
    /// Do the next step of a run; the answer says how much is left.
    Run,
    /// Do nothing more until it is resumed.
    Pause,
    /// Go on.
    Resume,
}

/// What to do about maintenance.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceRequest {
    /// `status` (the default), `plan`, `run`, `pause` or `resume`.
    #[serde(default)]
    pub action: Action,
    /// With `run`: begin a new run, whatever is left of another.
    #[serde(default)]
    pub anew: bool,
}

/// How maintenance stands, and what was planned or done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MaintenanceReply {
    /// It runs by itself (`maintenance.enabled`).
    pub enabled: bool,
    /// A person has paused it.
    pub paused: bool,
    /// When the last run came to its end, ISO 8601, UTC.
    pub last_run_at: Option<String>,
    /// When the next run is due; none where it does not run by itself.
    pub next_run_at: Option<String>,
    /// What a run would do, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What this step has done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Deed>,
    /// Steps that are left of the run, where one is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<usize>,
}

/// What a run would do, in this order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Deed>,
    /// Episodes that would be compacted.
    pub compacted: usize,
    /// Facts that would be promoted or linked.
    pub promoted: usize,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// A summary takes the place of episodes.
    Compact,
    /// Episodes that say the same become a fact.
    Promote,
    /// They are linked with a fact that is known already.
    Link,
}

/// One step of a run: planned, or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deed {
    /// What.
    pub act: Act,
    /// The cluster.
    pub cluster: String,
    /// The project, by its id.
    pub group: String,
    /// Who sees what is made.
    pub scope: Scope,
    /// For `compact`, the ISO week of the episodes (`2026-W05`); the month (`2026-01`) or year of the summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub week: Option<String>,
    /// The episodes, oldest first.
    pub members: Vec<MemoryId>,
    /// The episode whose text becomes the fact, for `promote`; the known fact, for `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<MemoryId>,
    /// What was made; none in a plan, and where the step found the episodes changed and was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MemoryId>,
    /// The number of the act, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<i64>,
}

/// What to clean up.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanupRequest {
    /// Only show what would be forgotten.
    #[serde(default)]
    pub dry_run: bool,
    /// As things stood at this moment, milliseconds since 1970: `at` of the list that was shown.
    #[serde(default)]
    pub at: Option<i64>,
}

/// What would be cleaned up, or was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CleanupReply {
    /// The memories, oldest first.
    pub memories: Vec<Faded>,
    /// The moment by which they were judged, milliseconds since 1970.
    pub at: i64,
    /// The number of the act, for `loci undo`; none when nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<i64>,
}

/// A memory that has faded and is not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Faded {
    /// Which memory.
    pub id: MemoryId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// What is left of its confidence.
    pub confidence: Confidence,
    /// When it was last used, or made, ISO 8601, UTC.
    pub used_at: String,
    /// The beginning of its text.
    pub preview: String,
}
