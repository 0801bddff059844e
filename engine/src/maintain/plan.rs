//! What a run would do: which memories are due, by project and week, month or year, in which topics; which of them say the same. Changes nothing.
//!
//! Not here: doing it (`compact`, `promote`).

use crate::db::clusters;
use crate::db::clusters::Episode;
use crate::db::memories::Status;
use crate::error::Result;
use crate::maintain::{Rules, Span, promote, topics};
use crate::model::encoding::Embedding;
use crate::model::time::Timestamp;
use crate::{Reader, Shared};
use loci_proto::memory::{MemoryId, Scope};
use loci_proto::requests::maintenance::{MaintenancePlan, StepKind, StepReport};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Least members of a topic: below it a memory joins the nearest one.
const SMALLEST: usize = 3;

/// Directions that are copied before those who wait for the index are let in.
const AT_ONCE: usize = 256;

/// Everything that a run would do, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Episodes that become summaries first, then summaries of summaries, then facts.
    pub steps: Vec<Step>,
}

/// One transaction of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A summary takes the place of episodes, or of summaries.
    Compact(Cluster),
    /// Episodes that say the same become a fact.
    Promote(promote::Promotion),
}

/// Episodes of one project, one audience, one week and one topic; or summaries of one month or year.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Names the cluster: its period and what is in it.
    pub key: String,
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    pub(crate) span: Span,
    /// The ISO week, month or year.
    pub period: String,
    pub(crate) members: Vec<Member>,
}

/// A memory as it stood when the plan was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub seq: i64,
    pub id: MemoryId,
    pub at: Timestamp,
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
    pub(crate) fn new(key: Key, members: Vec<Member>) -> Self {
        let (group, scope, span, period) = key;
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        Self {
            key: format!("{period}-{}", digest(&[&group, scope.as_str()], &ids)),
            group,
            scope,
            span,
            period,
            members,
        }
    }

    /// Its name in the table of what was dealt with.
    pub(crate) fn row(&self) -> String {
        format!("compact/{}", self.key)
    }
}

/// A short name of a set of ids in a context; the order of the ids makes no difference.
pub(crate) fn digest(context: &[&str], ids: &[&str]) -> String {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let text = format!("{}\n{}", context.join("\n"), sorted.join("\n"));
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

impl Step {
    /// The step in words that are sent.
    #[must_use]
    pub fn told(&self) -> StepReport {
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
            },
            Self::Promote(promotion) => promotion.told(),
        }
    }

    /// The project, by its id.
    #[must_use]
    pub fn group(&self) -> &str {
        match self {
            Self::Compact(cluster) => &cluster.group,
            Self::Promote(promotion) => &promotion.group,
        }
    }
}

impl Plan {
    /// The plan in words that are sent.
    #[must_use]
    pub fn told(&self) -> MaintenancePlan {
        let steps: Vec<StepReport> = self.steps.iter().map(Step::told).collect();
        let compacted = steps
            .iter()
            .filter(|deed| deed.act == StepKind::Compact)
            .map(|deed| deed.members.len())
            .sum();
        let promoted = steps.iter().filter(|deed| deed.act != StepKind::Compact).count();
        MaintenancePlan { steps, compacted, promoted }
    }
}

impl Reader {
    /// What a run would do now.
    ///
    /// # Errors
    /// `Database`.
    pub fn plan(&self, now: Timestamp) -> Result<Plan> {
        self.shared.stands()?;
        let episodes = clusters::episodes(&self.conn)?;
        let mut steps: Vec<Step> =
            due(&self.conn, &self.shared, &episodes, now)?.into_iter().map(Step::Compact).collect();
        steps.extend(
            promote::promotions(&self.conn, &self.shared, &episodes, now)?
                .into_iter()
                .map(Step::Promote),
        );
        Ok(Plan { steps })
    }
}

/// The clusters that are due, weeks before months and years, oldest first, but those that were dealt with before.
pub(crate) fn due(
    conn: &Connection,
    shared: &Shared,
    episodes: &[Episode],
    now: Timestamp,
) -> Result<Vec<Cluster>> {
    let rules = &shared.settings().rules;
    let mut due = Vec::new();
    for (key, members) in periods(episodes, rules, now) {
        let directions = directions(shared, &members);
        for topic in topics::of(&directions, smallest(rules)) {
            let cluster = Cluster::new(
                key.clone(),
                topic.into_iter().map(|i| Member::from(members[i])).collect(),
            );
            if !clusters::has(conn, &cluster.row())? {
                due.push(cluster);
            }
        }
    }
    due.sort_by(|a, b| {
        (a.span, &a.period, &a.group, &a.members[0].seq).cmp(&(
            b.span,
            &b.period,
            &b.group,
            &b.members[0].seq,
        ))
    });
    Ok(due)
}

/// The directions of episodes, copied so that the index is held only for a moment.
pub(crate) fn directions(shared: &Shared, episodes: &[&Episode]) -> Vec<Option<Embedding>> {
    let mut directions = Vec::with_capacity(episodes.len());
    for some in episodes.chunks(AT_ONCE) {
        let index = shared.index();
        directions.extend(some.iter().map(|episode| index.direction(episode.seq)));
    }
    directions
}

fn smallest(rules: &Rules) -> usize {
    SMALLEST.min(rules.compaction_min_group_size)
}

type Key = (String, Scope, Span, String);

/// With what stretch of time a memory is summed up: an episode with its week, a summary with its month, and what is left of a year with
/// the year. None for what was made otherwise.
fn span(episode: &Episode, rules: &Rules, now: Timestamp) -> Option<Span> {
    if !episode.made {
        return Some(Span::Week);
    }
    let wider = |below| [Span::Year, Span::Month].into_iter().filter(move |span| *span > below);
    let of = wider(episode.span?).find(|span| span.is_over(episode.at, rules, now));
    of.or_else(|| wider(episode.span?).next_back())
}

/// Whether a memory may be summed up: in use, not brought back from below a summary, not pinned, without an end of its own, and old enough.
pub(crate) fn is_due(episode: &Episode, rules: &Rules, now: Timestamp) -> bool {
    episode.status == Status::Active
        && !episode.anchor.pinned
        && episode.expires_at.is_none()
        && !episode.summed_up
        && span(episode, rules, now).is_some_and(|span| span.is_over(episode.at, rules, now))
}

/// Memories that are due, by project, audience and period, in the order of their dates. What of a period was compacted before counts for
/// its size, so that a run that was broken off goes on.
fn periods<'a>(
    episodes: &'a [Episode],
    rules: &Rules,
    now: Timestamp,
) -> Vec<(Key, Vec<&'a Episode>)> {
    let mut periods: BTreeMap<(&str, &str, Span, String), Period<'_>> = BTreeMap::new();
    for episode in episodes {
        let Some(span) = span(episode, rules, now) else { continue };
        let compacted = episode.status == Status::Compacted;
        if !compacted && !is_due(episode, rules, now) {
            continue;
        }
        let key = (episode.group.as_str(), episode.scope.as_str(), span, span.label(episode.at));
        let period =
            periods.entry(key).or_insert(Period { size: 0, scope: episode.scope, due: Vec::new() });
        period.size += 1;
        if !compacted {
            period.due.push(episode);
        }
    }
    periods.retain(|_, period| {
        period.size >= rules.compaction_min_group_size && period.due.len() >= smallest(rules)
    });
    let due = periods.into_iter().map(|((group, _, span, name), mut period)| {
        period.due.sort_by_key(|episode| (episode.at, episode.seq));
        ((group.to_owned(), period.scope, span, name), period.due)
    });
    due.collect()
}

/// The memories of one project, audience and period.
struct Period<'a> {
    /// Those that are due, and those that were compacted before.
    size: usize,
    scope: Scope,
    due: Vec<&'a Episode>,
}
