//! What a run would do: which episodes are due, by project and week, in which topics; which of them say the same. Changes nothing.
//!
//! Not here: doing it (`compact`, `promote`).

use super::{Rules, promote, topics};
use crate::db::clusters::{self, Episode};
use crate::db::memories::Status;
use crate::embedding::Embedding;
use crate::error::Result;
use crate::time::{DAY, Timestamp};
use crate::{Reader, Shared};
use loci_proto::maintain::{self as told, Act, Deed};
use loci_proto::memory::{MemoryId, Scope};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Least members of a topic: below it a memory joins the nearest one.
const SMALLEST: usize = 3;

/// Everything that a run would do, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Episodes that become summaries first, then facts.
    pub steps: Vec<Step>,
}

/// One transaction of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A summary takes the place of episodes.
    Compact(Cluster),
    /// Episodes that say the same become a fact.
    Promote(promote::Promotion),
}

/// Episodes of one project, one audience, one week and one topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Names the cluster: its week and what is in it.
    pub key: String,
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    /// The ISO week.
    pub week: String,
    pub(crate) members: Vec<Member>,
}

/// An episode as it stood when the plan was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub seq: i64,
    pub id: MemoryId,
    pub at: Timestamp,
    pub hash: Vec<u8>,
}

impl From<&Episode> for Member {
    fn from(episode: &Episode) -> Self {
        Self { seq: episode.seq, id: episode.id.clone(), at: episode.at, hash: episode.hash.clone() }
    }
}

impl Cluster {
    pub(crate) fn new(key: (String, Scope, String), members: Vec<Member>) -> Self {
        let (group, scope, week) = key;
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        Self { key: format!("{week}-{}", digest(&[&group, scope.as_str()], &ids)), group, scope, week, members }
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
    pub fn told(&self) -> Deed {
        match self {
            Self::Compact(cluster) => Deed {
                act: Act::Compact,
                cluster: cluster.key.clone(),
                group: cluster.group.clone(),
                scope: cluster.scope,
                week: Some(cluster.week.clone()),
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
    pub fn told(&self) -> told::Plan {
        let steps: Vec<Deed> = self.steps.iter().map(Step::told).collect();
        let compacted = steps.iter().filter(|deed| deed.act == Act::Compact).map(|deed| deed.members.len()).sum();
        let promoted = steps.iter().filter(|deed| deed.act != Act::Compact).count();
        told::Plan { steps, compacted, promoted }
    }
}

impl Reader {
    /// What a run would do now.
    ///
    /// # Errors
    /// `Database`.
    pub fn plan(&self, now: Timestamp) -> Result<Plan> {
        let episodes = clusters::episodes(&self.conn)?;
        let mut steps: Vec<Step> = due(&self.conn, &self.shared, &episodes, now)?.into_iter().map(Step::Compact).collect();
        steps.extend(promote::promotions(&self.conn, &self.shared, &episodes, now)?.into_iter().map(Step::Promote));
        Ok(Plan { steps })
    }
}

/// The clusters that are due, oldest week first, but those that were dealt with before.
pub(crate) fn due(conn: &Connection, shared: &Shared, episodes: &[Episode], now: Timestamp) -> Result<Vec<Cluster>> {
    let rules = &shared.settings().rules;
    let mut due = Vec::new();
    for (key, members) in weeks(episodes, rules, now) {
        let directions = directions(shared, &members);
        for topic in topics::of(&directions, smallest(rules)) {
            let cluster = Cluster::new(key.clone(), topic.into_iter().map(|i| Member::from(members[i])).collect());
            if !clusters::has(conn, &cluster.row())? {
                due.push(cluster);
            }
        }
    }
    due.sort_by(|a, b| (&a.week, &a.group, &a.members[0].seq).cmp(&(&b.week, &b.group, &b.members[0].seq)));
    Ok(due)
}

/// The directions of episodes, copied so that the index is held only for a moment.
pub(crate) fn directions(shared: &Shared, episodes: &[&Episode]) -> Vec<Option<Embedding>> {
    let index = shared.index();
    episodes.iter().map(|episode| index.direction(episode.seq)).collect()
}

fn smallest(rules: &Rules) -> usize {
    SMALLEST.min(rules.compaction_min_group_size)
}

type Key = (String, Scope, String);

/// Whether an episode may be compacted: in use, of its own making, not pinned, without an end of its own, and old enough.
pub(crate) fn is_due(episode: &Episode, rules: &Rules, now: Timestamp) -> bool {
    episode.status == Status::Active
        && !episode.anchor.pinned
        && !episode.made
        && episode.expires_at.is_none()
        && now.since(episode.at) as f64 > rules.compaction_age_days * DAY as f64
}

/// Episodes that are due, by project, audience and week, in the order of their dates. What of a week was compacted before counts for
/// its size, so that a run that was broken off goes on.
fn weeks<'a>(episodes: &'a [Episode], rules: &Rules, now: Timestamp) -> Vec<(Key, Vec<&'a Episode>)> {
    let mut weeks: BTreeMap<(&str, &str, String), Week<'_>> = BTreeMap::new();
    for episode in episodes.iter().filter(|episode| !episode.made) {
        let compacted = episode.status == Status::Compacted;
        if !compacted && !is_due(episode, rules, now) {
            continue;
        }
        let key = (episode.group.as_str(), episode.scope.as_str(), episode.at.week());
        let week = weeks.entry(key).or_insert(Week { size: 0, scope: episode.scope, due: Vec::new() });
        week.size += 1;
        if !compacted {
            week.due.push(episode);
        }
    }
    weeks.retain(|_, week| week.size >= rules.compaction_min_group_size && week.due.len() >= smallest(rules));
    let due = weeks.into_iter().map(|((group, _, name), mut week)| {
        week.due.sort_by_key(|episode| (episode.at, episode.seq));
        ((group.to_owned(), week.scope, name), week.due)
    });
    due.collect()
}

/// The episodes of one project, audience and week.
struct Week<'a> {
    /// Those that are due, and those that were compacted before.
    size: usize,
    scope: Scope,
    due: Vec<&'a Episode>,
}
