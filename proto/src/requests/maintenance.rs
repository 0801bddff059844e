//! `maintenance`: controls the compaction and promotion of old memories (`loci ctl maintenance`).
//!
//! Request:
//! ```json
//! {"action": "run", "restart": true}
//! ```
//! Reply:
//! ```json
//! {"enabled": true, "paused": false, "last_run_at": null, "next_run_at": "2026-02-01T12:30:00Z", "left": 1,
//!  "done": {"act": "compact", "cluster": "2026-W05-5d1f0a9b3c7e2468", "group": "shop", "scope": "group", "week": "2026-W05",
//!   "members": ["01953a2b-7c1e-7000-8000-0123456789ab"], "made": "01953a2b-7c1e-7000-8000-0123456789ac", "journal": 20}}
//! ```

use crate::memory::{MemoryId, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Action of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MaintenanceAction {
    /// Return the status.
    #[default]
    Status,
    /// Return the steps of a run without executing them.
    Plan,
    /// Execute the next step of a run; the reply gives the number of steps left.
    Run,
    /// Stop all maintenance until `resume`.
    Pause,
    /// End a pause.
    Resume,
}

/// Arguments of `maintenance`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceRequest {
    /// `status` (the default), `plan`, `run`, `pause` or `resume`.
    #[serde(default)]
    pub action: MaintenanceAction,
    /// With `run`: start a new run and discard the rest of a run in progress.
    #[serde(default, alias = "anew")]
    pub restart: bool,
}

/// Reply of `maintenance`: the status, and the planned or executed steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MaintenanceReply {
    /// True if runs start automatically (`maintenance.enabled`).
    pub enabled: bool,
    /// True if a user has paused maintenance.
    pub paused: bool,
    /// Minutes without a call after which a run starts too (`maintenance.idle_minutes`); absent if that is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_minutes: Option<f64>,
    /// End of the last completed run, ISO 8601, UTC.
    pub last_run_at: Option<String>,
    /// When the next run is due; absent if runs do not start automatically.
    pub next_run_at: Option<String>,
    /// The planned steps; only for `plan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<MaintenancePlan>,
    /// The executed step; only for `run`, and absent if nothing was due or its episodes had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<StepReport>,
    /// Number of steps left in the run in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<usize>,
}

/// The steps of a run, without executing them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MaintenancePlan {
    /// The steps, in the order of execution.
    pub steps: Vec<StepReport>,
    /// Number of episodes that would be compacted.
    pub compacted: usize,
    /// Number of facts that would be promoted or linked.
    pub promoted: usize,
    /// Number of forgotten memories that would be erased (`maintenance.purge_forgotten_days`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub purged: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// Replaces episodes by a summary.
    Compact,
    /// Turns episodes that state the same into a fact.
    Promote,
    /// Links such episodes with an existing fact.
    Link,
    /// Erases memories that were forgotten long ago. It cannot be undone.
    Purge,
}

impl StepReport {
    /// Returns whether the step erases memories.
    #[must_use]
    pub fn is_purge(&self) -> bool {
        self.act == StepKind::Purge
    }
}

/// One step of a run, planned or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Kind of the step.
    pub act: StepKind,
    /// Id of the cluster.
    pub cluster: String,
    /// Id of the project.
    pub group: String,
    /// Scope of the memory that is created.
    pub scope: Scope,
    /// For `compact`: ISO week of the episodes (`2026-W05`); month (`2026-01`) or year of summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub week: Option<String>,
    /// The episodes, oldest first; for `purge` the forgotten memories, and when done those that were erased.
    pub members: Vec<MemoryId>,
    /// For `promote`: the episode whose text becomes the fact. For `link`: the existing fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<MemoryId>,
    /// The memory that was created; absent in a plan, and if the step was skipped because the episodes had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MemoryId>,
    /// Number of the journal entry, for `loci undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<i64>,
    /// In a plan: display name of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// In a plan: first lines of the episodes, at most 5; for `promote` and `link` the text of the fact comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}
