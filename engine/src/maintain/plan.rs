//! Plans a run: which memories are due, by project, period and topic, and which episodes repeat a
//! fact. Changes nothing.
//!
//! Not here: doing it (`compact`, `promote`).

use crate::db::clusters;
use crate::db::clusters::Episode;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::maintain::steps::{Cluster, Key, Member, Plan, Step};
use crate::maintain::{PeriodKind, Rules, promote, topics};
use crate::model::encoding::Embedding;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use loci_proto::memory::Scope;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Minimum members of a topic; members of a smaller one join the nearest topic.
const MIN_TOPIC: usize = 3;

/// Vectors copied while the index lock is held once.
const COPY_STEP: usize = 256;

impl Reader {
    /// Returns the plan of a run at this time.
    ///
    /// # Errors
    /// `Database`.
    pub fn plan(&self, now: Timestamp) -> Result<Plan> {
        self.shared.require_ready()?;
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

/// Returns the due clusters that were not processed before: weeks before months before years,
/// oldest first.
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
        for topic in topics::group_by_topic(&directions, min_topic(rules)) {
            let cluster = Cluster::new(
                key.clone(),
                topic.into_iter().map(|i| Member::from(members[i])).collect(),
            );
            if !clusters::is_processed(conn, &cluster.row())? {
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

/// Copies the mean vectors of episodes, holding the index lock only briefly.
pub(crate) fn directions(shared: &Shared, episodes: &[&Episode]) -> Vec<Option<Embedding>> {
    let mut directions = Vec::with_capacity(episodes.len());
    for some in episodes.chunks(COPY_STEP) {
        let index = shared.index();
        directions.extend(some.iter().map(|episode| index.direction(episode.seq)));
    }
    directions
}

fn min_topic(rules: &Rules) -> usize {
    MIN_TOPIC.min(rules.compaction_min_group_size)
}

/// Returns the kind of period that a memory is summarised with: the week for an episode, the month
/// for a summary, and the year for the rest. `None` for memories that were derived otherwise.
fn span(episode: &Episode, rules: &Rules, now: Timestamp) -> Option<PeriodKind> {
    if !episode.made {
        return Some(PeriodKind::Week);
    }
    let wider =
        |below| [PeriodKind::Year, PeriodKind::Month].into_iter().filter(move |span| *span > below);
    let of = wider(episode.span?).find(|span| span.is_over(episode.at, rules, now));
    of.or_else(|| wider(episode.span?).next_back())
}

/// Returns whether a memory may be summarised: active, not restored from below a summary, not
/// pinned, without expiry, and old enough.
pub(crate) fn is_due(episode: &Episode, rules: &Rules, now: Timestamp) -> bool {
    episode.status == Status::Active
        && !episode.anchor.pinned
        && episode.expires_at.is_none()
        && !episode.is_summarised
        && span(episode, rules, now).is_some_and(|span| span.is_over(episode.at, rules, now))
}

/// Returns due memories by project, scope and period, in date order. Memories of the period that
/// were compacted before count for its size, so that an interrupted run continues.
fn periods<'a>(
    episodes: &'a [Episode],
    rules: &Rules,
    now: Timestamp,
) -> Vec<(Key, Vec<&'a Episode>)> {
    let mut periods: BTreeMap<(&str, &str, PeriodKind, String), Period<'_>> = BTreeMap::new();
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
        period.size >= rules.compaction_min_group_size && period.due.len() >= min_topic(rules)
    });
    let due = periods.into_iter().map(|((group, _, span, name), mut period)| {
        period.due.sort_by_key(|episode| (episode.at, episode.seq));
        ((group.to_owned(), period.scope, span, name), period.due)
    });
    due.collect()
}

/// The memories of one project, scope and period.
struct Period<'a> {
    /// Due members, and members that were compacted before.
    size: usize,
    scope: Scope,
    due: Vec<&'a Episode>,
}
