//! The steps of a maintenance run: clusters that become summaries, and promotions that become
//! facts.
//!
//! Plain data and its conversion to replies. Not here: planning steps (`plan`, `promote`) and
//! running them (`compact`, `promote`).

use crate::db::clusters::Episode;
use crate::maintain::PeriodKind;
use crate::model::time::Timestamp;
use loci_proto::memory::{MemoryId, Scope};
use loci_proto::requests::maintenance::{MaintenancePlan, StepKind, StepReport};

/// The memories that may be summarised together: those of one project, scope and period.
#[derive(Debug, Clone)]
pub(crate) struct PeriodKey {
    /// The project, by its id.
    pub group: String,
    pub scope: Scope,
    pub kind: PeriodKind,
    /// The ISO week, month or year.
    pub label: String,
}

/// All steps of a run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// First what is erased, then summaries of episodes, summaries of summaries, and facts.
    pub steps: Vec<Step>,
}

/// One transaction of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A summary replaces episodes, or summaries.
    Compact(Cluster),
    /// Similar episodes become a fact.
    Promote(Promotion),
    /// Forgotten memories are erased.
    Purge(Purge),
}

/// Episodes of one project, scope, week and topic; or summaries of one month or year.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Identifies the cluster: its period and a digest of its members.
    pub key: String,
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    pub(crate) period_kind: PeriodKind,
    /// The ISO week, month or year.
    pub period: String,
    pub(crate) members: Vec<Member>,
}

/// A memory in its state at the time of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub seq: i64,
    pub id: MemoryId,
    /// Time of the event.
    pub at: Timestamp,
    /// Hash of the normalised text.
    pub hash: Vec<u8>,
}

impl From<&Episode> for Member {
    fn from(episode: &Episode) -> Self {
        Self {
            seq: episode.seq,
            id: episode.id.clone(),
            at: episode.at,
            hash: episode.hash.clone(),
        }
    }
}

impl Cluster {
    pub(crate) fn new(key: PeriodKey, members: Vec<Member>) -> Self {
        let PeriodKey { group, scope, kind, label } = key;
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        Self {
            key: format!("{label}-{}", digest(&[&group, scope.as_str()], &ids)),
            group,
            scope,
            period_kind: kind,
            period: label,
            members,
        }
    }

    /// Returns its key in the table of processed clusters.
    pub(crate) fn processed_key(&self) -> String {
        format!("compact/{}", self.key)
    }
}

/// Returns a short digest of a set of ids in a context; the order of the ids does not matter.
pub(crate) fn digest(context: &[&str], ids: &[&str]) -> String {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let text = format!("{}\n{}", context.join("\n"), sorted.join("\n"));
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

impl Step {
    /// Converts the step to its reply form.
    #[must_use]
    pub fn to_reply(&self) -> StepReport {
        match self {
            Self::Compact(cluster) => StepReport {
                act: StepKind::Compact,
                cluster: cluster.key.clone(),
                group: cluster.group.clone(),
                scope: cluster.scope,
                week: Some(cluster.period.clone()),
                members: cluster.members.iter().map(|member| member.id.clone()).collect(),
                from: None,
                made: None,
                journal: None,
                project: None,
                texts: Vec::new(),
            },
            Self::Promote(promotion) => promotion.to_reply(),
            Self::Purge(purge) => purge.to_reply(),
        }
    }

    /// Returns the id of the project.
    #[must_use]
    pub fn group(&self) -> &str {
        match self {
            Self::Compact(cluster) => &cluster.group,
            Self::Promote(promotion) => &promotion.group,
            Self::Purge(purge) => &purge.group,
        }
    }
}

impl Plan {
    /// Converts the plan to its reply form.
    #[must_use]
    pub fn to_reply(&self) -> MaintenancePlan {
        let steps: Vec<StepReport> = self.steps.iter().map(Step::to_reply).collect();
        let members = |act: StepKind| {
            let of_kind = steps.iter().filter(|report| report.act == act);
            of_kind.map(|report| report.members.len()).sum()
        };
        let (compacted, purged) = (members(StepKind::Compact), members(StepKind::Purge));
        let is_fact = |act: StepKind| matches!(act, StepKind::Promote | StepKind::Link);
        let promoted = steps.iter().filter(|report| is_fact(report.act)).count();
        MaintenancePlan { steps, compacted, promoted, purged }
    }
}

/// Similar episodes and the fact that they become or support.
#[derive(Debug, Clone, PartialEq)]
pub struct Promotion {
    /// Identifies the promotion: a digest of its members.
    pub(crate) key: String,
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    pub(crate) members: Vec<Member>,
    /// Index of the member whose text becomes the fact.
    pub(crate) central: usize,
    /// The sequence number and id of an existing fact that states the same.
    pub(crate) existing: Option<(i64, MemoryId)>,
}

impl Promotion {
    pub(crate) fn to_reply(&self) -> StepReport {
        let from = self.existing.as_ref().map_or(&self.members[self.central].id, |(_, id)| id);
        StepReport {
            act: if self.existing.is_some() { StepKind::Link } else { StepKind::Promote },
            cluster: self.key.clone(),
            group: self.group.clone(),
            scope: self.scope,
            week: None,
            members: self.members.iter().map(|member| member.id.clone()).collect(),
            from: Some(from.clone()),
            made: None,
            journal: None,
            project: None,
            texts: Vec::new(),
        }
    }

    /// Returns its key in the table of processed clusters.
    pub(crate) fn processed_key(&self) -> String {
        format!("promote/{}", self.key)
    }
}

/// Memories of one project and scope that are erased together.
#[derive(Debug, Clone, PartialEq)]
pub struct Purge {
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    pub(crate) members: Vec<(i64, MemoryId)>,
}

impl Purge {
    pub(crate) fn to_reply(&self) -> StepReport {
        let members: Vec<MemoryId> = self.members.iter().map(|(_, id)| id.clone()).collect();
        let ids: Vec<&str> = members.iter().map(MemoryId::as_str).collect();
        StepReport {
            act: StepKind::Purge,
            cluster: format!("purge-{}", digest(&[&self.group, self.scope.as_str()], &ids)),
            group: self.group.clone(),
            scope: self.scope,
            week: None,
            members,
            from: None,
            made: None,
            journal: None,
            project: None,
            texts: Vec::new(),
        }
    }
}
