//! Plans a run: finds the memories that are due for a summary, by project, period and topic, and
//! the episodes that repeat a fact. Changes nothing.
//!
//! Not here: running the steps (`compact`, `promote`).

use crate::db::clusters;
use crate::db::clusters::Episode;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::maintain::steps::{Cluster, Member, PeriodKey, Plan, Step};
use crate::maintain::topics::TopicRules;
use crate::maintain::{PeriodKind, Rules, promote, purge, topics};
use crate::model::encoding::Embedding;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use loci_proto::memory::Scope;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Minimum members of a topic; those of a smaller one are moved to the nearest topic.
const MIN_TOPIC_SIZE: usize = 3;

/// Vectors copied under one lock of the index.
const COPY_STEP: usize = 256;

impl Reader {
    /// Returns the plan of a run at this time.
    ///
    /// # Errors
    /// `Database`.
    pub fn plan(&self, now: Timestamp) -> Result<Plan> {
        self.shared.require_ready()?;
        let episodes = clusters::episodes(&self.conn)?;
        // Before anything that a backup is made for, so that the backup does not have the texts.
        let purges = purge::due(&self.conn, &self.shared, now)?.into_iter().map(Step::Purge);
        let clusters = due_clusters(&self.conn, &self.shared, &episodes, now)?;
        let promotions = promote::promotions(&self.conn, &self.shared, &episodes, now)?;
        let steps = purges
            .chain(clusters.into_iter().map(Step::Compact))
            .chain(promotions.into_iter().map(Step::Promote))
            .collect();
        Ok(Plan { steps })
    }
}

/// Returns the due clusters that were not processed before: weeks before months before years,
/// oldest first.
pub(crate) fn due_clusters(
    conn: &Connection,
    shared: &Shared,
    episodes: &[Episode],
    now: Timestamp,
) -> Result<Vec<Cluster>> {
    let rules = &shared.settings().rules;
    let mut due = Vec::new();
    for (key, members) in periods(episodes, rules, now) {
        let directions = directions(shared, &members);
        for topic in topics::group_by_topic(&directions, topic_rules(rules)) {
            let cluster = Cluster::new(
                key.clone(),
                topic.into_iter().map(|i| Member::from(members[i])).collect(),
            );
            if !clusters::is_processed(conn, &cluster.processed_key())? {
                due.push(cluster);
            }
        }
    }
    due.sort_by(|a, b| {
        (a.period_kind, &a.period, &a.group, &a.members[0].seq).cmp(&(
            b.period_kind,
            &b.period,
            &b.group,
            &b.members[0].seq,
        ))
    });
    Ok(due)
}

/// Copies the mean vectors of episodes, [`COPY_STEP`] under one lock of the index.
pub(crate) fn directions(shared: &Shared, episodes: &[&Episode]) -> Vec<Option<Embedding>> {
    let mut directions = Vec::with_capacity(episodes.len());
    for chunk in episodes.chunks(COPY_STEP) {
        let index = shared.index();
        directions.extend(chunk.iter().map(|episode| index.direction(episode.seq)));
    }
    directions
}

fn topic_rules(rules: &Rules) -> TopicRules {
    TopicRules {
        min_size: min_topic_size(rules),
        max_size: rules.compaction_batch,
        similarity: rules.topic_similarity,
    }
}

fn min_topic_size(rules: &Rules) -> usize {
    MIN_TOPIC_SIZE.min(rules.compaction_min_group_size)
}

/// Returns the kind of period by which a memory is summarised: the week for an episode; for a
/// summary the widest period that is over, else the next wider one. `None` for other derived
/// memories and for the summary of a year.
fn period_kind(episode: &Episode, rules: &Rules, now: Timestamp) -> Option<PeriodKind> {
    if !episode.is_generated {
        return Some(PeriodKind::Week);
    }
    let wider =
        |below| [PeriodKind::Year, PeriodKind::Month].into_iter().filter(move |kind| *kind > below);
    let over = wider(episode.span?).find(|kind| kind.is_over(episode.at, rules, now));
    over.or_else(|| wider(episode.span?).next_back())
}

/// Returns whether a memory may be summarised: it is active, not pinned, does not expire, is old
/// enough, and was never covered by a summary.
pub(crate) fn is_due(episode: &Episode, rules: &Rules, now: Timestamp) -> bool {
    episode.status == Status::Active
        && !episode.anchor.pinned
        && episode.expires_at.is_none()
        && !episode.is_summarised
        && period_kind(episode, rules, now).is_some_and(|kind| kind.is_over(episode.at, rules, now))
}

/// Returns due memories by project, scope and period, in date order. Already
/// compacted memories count for the size of the period, so that an interrupted run continues.
fn periods<'a>(
    episodes: &'a [Episode],
    rules: &Rules,
    now: Timestamp,
) -> Vec<(PeriodKey, Vec<&'a Episode>)> {
    let mut periods: BTreeMap<(&str, &str, PeriodKind, String), Period<'_>> = BTreeMap::new();
    for episode in episodes {
        let Some(kind) = period_kind(episode, rules, now) else { continue };
        let is_compacted = episode.status == Status::Compacted;
        if !is_compacted && !is_due(episode, rules, now) {
            continue;
        }
        let key = (episode.group.as_str(), episode.scope.as_str(), kind, kind.label(episode.at));
        let period =
            periods.entry(key).or_insert(Period { size: 0, scope: episode.scope, due: Vec::new() });
        period.size += 1;
        if !is_compacted {
            period.due.push(episode);
        }
    }
    periods.retain(|_, period| {
        period.size >= rules.compaction_min_group_size && period.due.len() >= min_topic_size(rules)
    });
    let due = periods.into_iter().map(|((group, _, kind, label), mut period)| {
        period.due.sort_by_key(|episode| (episode.at, episode.seq));
        (PeriodKey { group: group.to_owned(), scope: period.scope, kind, label }, period.due)
    });
    due.collect()
}

/// The memories of one project, scope and period.
struct Period<'a> {
    /// Number of due members and of already compacted ones.
    size: usize,
    scope: Scope,
    due: Vec<&'a Episode>,
}
