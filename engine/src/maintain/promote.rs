//! Promotion: a statement that several episodes repeat becomes a fact (a semantic memory) with the
//! scope of their project, linked with each of them.
//!
//! The episodes themselves stay as they are. The fact is global only if clusters of two projects
//! state it. Not here: whether it is true; its text is that of the most central episode, word for
//! word.

use crate::db::clusters;
use crate::db::clusters::{ClusterKind, Episode};
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::NewMemory;
use crate::db::vectors;
use crate::duplicate;
use crate::duplicate::TextValues;
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::maintain::sources::{add_source, mean_confidence};
use crate::maintain::steps::{Member, Promotion, digest};
use crate::model::encoding::Embedding;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Audience;
use crate::operations::store::hash;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use loci_proto::requests::maintenance::StepReport;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};

/// Newest episodes of a project that are compared pairwise: the cost is quadratic (4,000 take a
/// second).
const MAX_COMPARED: usize = 4000;
/// Once an episode has this many similar ones it is compared no further: a fact needs no more.
const MAX_SIMILAR: usize = 256;
/// Ids that `metadata.source_ids` of a fact names; links to all sources are stored separately.
const MAX_NAMED_SOURCES: usize = 40;

/// Returns the promotions that are due.
pub(crate) fn promotions(
    conn: &Connection,
    shared: &Shared,
    episodes: &[Episode],
    now: Timestamp,
) -> Result<Vec<Promotion>> {
    let settings = shared.settings();
    let mut groups: BTreeMap<&str, Vec<(&Episode, Embedding)>> = BTreeMap::new();
    {
        let index = shared.index();
        for episode in episodes.iter().rev().filter(|episode| is_open(episode, now)) {
            let of_group = groups.entry(&episode.group).or_default();
            if of_group.len() == MAX_COMPARED
                || index.slot(episode.seq).is_none_or(|slot| index.chunk_count(slot) != 1)
            {
                continue;
            }
            of_group.extend(index.direction(episode.seq).map(|direction| (episode, direction)));
        }
    }
    let mut found = Vec::new();
    for (group, mut candidates) in groups {
        candidates.reverse();
        let near = similar_episodes(conn, &candidates, settings.rules.promotion_similarity)?;
        for star in star_clusters(&candidates, &near, settings.rules.promotion_threshold) {
            found.push(SimilarGroup {
                group: group.to_owned(),
                members: star.iter().map(|i| candidates[*i].clone()).collect(),
            });
        }
    }
    let facts = if found.is_empty() { Vec::new() } else { clusters::facts(conn)? };
    let known = ExistingFacts { conn, shared, facts, now };
    let mut due = Vec::new();
    for star_clusters in join_across_projects(conn, found, settings.rules.promotion_similarity)? {
        let promotion = known.promotion(&star_clusters)?;
        if !clusters::is_processed(conn, &promotion.row())? {
            due.push(promotion);
        }
    }
    Ok(due)
}

/// Returns whether an episode may still support a fact: each supports one only once.
fn is_open(episode: &Episode, now: Timestamp) -> bool {
    let there = matches!(episode.status, Status::Active | Status::Compacted);
    there && !episode.made && !episode.promoted && episode.expires_at.is_none_or(|at| at > now)
}

/// Similar episodes; the most central one comes first.
struct SimilarGroup<'a> {
    group: String,
    members: Vec<(&'a Episode, Embedding)>,
}

impl<'a> SimilarGroup<'a> {
    fn centre(&self) -> &(&'a Episode, Embedding) {
        &self.members[0]
    }
}

/// Returns for each candidate the similar ones: a cosine above `similarity`, and values that do not
/// indicate another event. If there are very many, the oldest.
fn similar_episodes(
    conn: &Connection,
    candidates: &[(&Episode, Embedding)],
    similarity: f64,
) -> Result<Vec<Vec<usize>>> {
    let mut values: HashMap<usize, TextValues> = HashMap::new();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); candidates.len()];
    for (a, (one, x)) in candidates.iter().enumerate() {
        for (b, (other, y)) in candidates[..a].iter().enumerate() {
            let full = near[a].len() >= MAX_SIMILAR || near[b].len() >= MAX_SIMILAR;
            if full || f64::from(x.cosine(y)) <= similarity {
                continue;
            }
            for (at, seq) in [(a, one.seq), (b, other.seq)] {
                if let Entry::Vacant(empty) = values.entry(at) {
                    empty.insert(TextValues::of(&text(conn, seq)?));
                }
            }
            if !values[&a].describes_other_event(&values[&b]) {
                near[a].push(b);
                near[b].push(a);
            }
        }
    }
    Ok(near)
}

/// Returns groups of at least `least` episodes in which one is similar to all others, largest
/// first. The most central episode comes first in each; on ties the one with more accesses, then
/// the older.
fn star_clusters(
    candidates: &[(&Episode, Embedding)],
    near: &[Vec<usize>],
    least: usize,
) -> Vec<Vec<usize>> {
    let mut degrees: Vec<usize> = near.iter().map(Vec::len).collect();
    let mut open = vec![true; candidates.len()];
    let mut found = Vec::new();
    loop {
        let best = (0..candidates.len())
            .filter(|i| open[*i])
            .max_by_key(|i| (degrees[*i], std::cmp::Reverse(*i)));
        let Some(centre) = best.filter(|i| degrees[*i] + 1 >= least) else { return found };
        let mut members: Vec<usize> =
            near[centre].iter().copied().filter(|other| open[*other]).collect();
        members.push(centre);
        members.sort_unstable();
        for member in &members {
            open[*member] = false;
            near[*member].iter().for_each(|other| degrees[*other] -= 1);
        }
        let central = central(candidates, &members);
        members.retain(|member| *member != central);
        members.insert(0, central);
        found.push(members);
    }
}

fn central(candidates: &[(&Episode, Embedding)], members: &[usize]) -> usize {
    let centrality = |i: usize| {
        let sum: f32 =
            members.iter().map(|other| candidates[i].1.cosine(&candidates[*other].1)).sum();
        // Two decimals: smaller differences of centrality are noise.
        (sum / members.len() as f32 * 100.0).round()
    };
    let worth = |i: usize| (centrality(i), candidates[i].0.access_count);
    let best = members.iter().copied().max_by(|a, b| {
        let ((near_a, used_a), (near_b, used_b)) = (worth(*a), worth(*b));
        near_a.total_cmp(&near_b).then(used_a.cmp(&used_b)).then(b.cmp(a))
    });
    best.unwrap_or(members[0])
}

/// Joins groups of different projects whose centres state the same fact: it becomes global.
/// Similarity is not enough, since each project may have another value in the same sentence.
fn join_across_projects<'a>(
    conn: &Connection,
    star_clusters: Vec<SimilarGroup<'a>>,
    similarity: f64,
) -> Result<Vec<Vec<SimilarGroup<'a>>>> {
    let mut sets: Vec<Vec<SimilarGroup<'_>>> = Vec::new();
    for star in star_clusters {
        let mut joined = None;
        for (at, set) in sets.iter().enumerate() {
            let alike = |other: &SimilarGroup<'_>| {
                other.group != star.group
                    && f64::from(other.centre().1.cosine(&star.centre().1)) > similarity
            };
            if set.iter().all(alike) && all_state_same_fact(conn, set, &star)? {
                joined = Some(at);
                break;
            }
        }
        match joined {
            Some(at) => sets[at].push(star),
            None => sets.push(vec![star]),
        }
    }
    Ok(sets)
}

fn all_state_same_fact(
    conn: &Connection,
    set: &[SimilarGroup<'_>],
    star: &SimilarGroup<'_>,
) -> Result<bool> {
    let said = text(conn, star.centre().0.seq)?;
    for other in set {
        if !duplicate::same_fact(&text(conn, other.centre().0.seq)?, &said) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn text(conn: &Connection, seq: i64) -> Result<String> {
    Ok(memories::by_seq(conn, seq)?.map(|memory| memory.content).unwrap_or_default())
}

/// Existing facts with which episodes are compared.
struct ExistingFacts<'a> {
    conn: &'a Connection,
    shared: &'a Shared,
    facts: Vec<Memory>,
    now: Timestamp,
}

impl ExistingFacts<'_> {
    /// Returns the promotion of groups that agree.
    fn promotion(&self, star_clusters: &[SimilarGroup<'_>]) -> Result<Promotion> {
        let scope = if star_clusters.len() > 1 { Scope::Global } else { Scope::Group };
        // The largest group gives the text; on ties that of the first project.
        let speaker = (0..star_clusters.len())
            .max_by_key(|i| (star_clusters[*i].members.len(), std::cmp::Reverse(*i)))
            .unwrap_or(0);
        let (centre, group) =
            (&star_clusters[speaker].members[0], star_clusters[speaker].group.clone());
        let mut members: Vec<Member> = star_clusters
            .iter()
            .flat_map(|star| star.members.iter().map(|(episode, _)| Member::from(*episode)))
            .collect();
        members.sort_by_key(|member| (member.at, member.seq));
        let central = members.iter().position(|member| member.seq == centre.0.seq).unwrap_or(0);
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        let key = digest(&[&group, scope.as_str()], &ids);
        let audience = Audience::new(scope, Some(&group));
        let own = |fact: &Memory| fact.audience().includes(audience);
        let known = self.known(centre, own)?;
        Ok(Promotion { key, group, scope, members, central, known })
    }

    /// Returns the first matching fact that states what an episode states.
    fn known(
        &self,
        centre: &(&Episode, Embedding),
        of: impl Fn(&Memory) -> bool,
    ) -> Result<Option<(i64, MemoryId)>> {
        for fact in self
            .facts
            .iter()
            .filter(|fact| of(fact) && fact.expires_at.is_none_or(|at| at > self.now))
        {
            if self.states(fact, centre)? {
                return Ok(Some((fact.seq, fact.id.clone())));
            }
        }
        Ok(None)
    }

    /// Returns whether a fact states what an episode states: equal text, the duplicate gate's
    /// judgement, or a promoted fact of similar episodes.
    fn states(&self, fact: &Memory, (episode, direction): &(&Episode, Embedding)) -> Result<bool> {
        if hash(&fact.content).as_slice() == episode.hash.as_slice() {
            return Ok(true);
        }
        let settings = self.shared.settings();
        let cosine = self
            .shared
            .index()
            .direction(fact.seq)
            .map_or(0.0, |other| f64::from(other.cosine(direction)));
        if is_promoted(fact) && cosine > settings.rules.promotion_similarity {
            return Ok(true);
        }
        let text = if cosine > settings.dedup_threshold {
            memories::by_seq(self.conn, episode.seq)?
        } else {
            None
        };
        Ok(text.is_some_and(|memory| duplicate::same_fact(&fact.content, &memory.content)))
    }
}

fn is_promoted(fact: &Memory) -> bool {
    fact.metadata.get("promoted").is_some_and(|value| value == true)
}

impl Writer {
    /// Inserts the fact, or links the episodes with the existing one. Changes nothing if an episode
    /// has changed since the plan.
    ///
    /// # Errors
    /// `Database`.
    pub fn promote(&mut self, call: &CallContext, promotion: &Promotion) -> Result<StepReport> {
        self.run_idempotent(call, |change| {
            let report = promotion.to_reply();
            if clusters::is_processed(change.conn, &promotion.row())?
                || !still_open(change, promotion)?
            {
                return Ok(report);
            }
            let (seq, id) = match &promotion.known {
                Some(known) => known.clone(),
                None => insert(change, promotion)?,
            };
            for member in &promotion.members {
                add_source(change, seq, member)?;
                clusters::insert(
                    change.conn,
                    &format!("promote/{}", member.id),
                    ClusterKind::Promote,
                    call.now,
                )?;
                change.log(
                    Operation::Promote,
                    &member.id,
                    &json!({"into": id, "known": promotion.known.is_some()}),
                )?;
            }
            clusters::insert(change.conn, &promotion.row(), ClusterKind::Promote, call.now)?;
            let journal = change.commit_to_journal("promote")?;
            Ok(StepReport { made: Some(id), journal, ..report })
        })
    }
}

fn still_open(change: &Change<'_>, promotion: &Promotion) -> Result<bool> {
    for member in &promotion.members {
        let episode = clusters::episode_of(change.conn, member.seq)?;
        if !episode.is_some_and(|now| is_open(&now, change.call.now) && now.hash == member.hash) {
            return Ok(false);
        }
    }
    match &promotion.known {
        Some((seq, _)) => {
            Ok(memories::by_seq(change.conn, *seq)?
                .is_some_and(|fact| fact.status == Status::Active))
        }
        None => Ok(true),
    }
}

/// Inserts the fact's row. Its confidence is the mean of its episodes: repetition made it a fact,
/// but does not make it certain.
fn insert(change: &mut Change<'_>, promotion: &Promotion) -> Result<(i64, MemoryId)> {
    let central = &promotion.members[promotion.central];
    let content = memories::by_seq(change.conn, central.seq)?
        .map(|memory| memory.content)
        .unwrap_or_default();
    let seqs: Vec<i64> = promotion.members.iter().map(|member| member.seq).collect();
    let coded = vectors::encoding(change.conn, central.seq, &change.shared.settings().model)?;
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let ids: Vec<&str> =
        promotion.members.iter().take(MAX_NAMED_SOURCES).map(|member| member.id.as_str()).collect();
    let fields = json!({"promoted": true, "promoted_from": central.id, "source_ids": ids, "sources": seqs.len()});
    let metadata = if let Value::Object(fields) = fields { fields } else { Map::new() };
    let new = NewMemory {
        id: &id,
        kind: MemoryType::Semantic,
        content: &content,
        group: &promotion.group,
        scope: promotion.scope,
        confidence: mean_confidence(change, &seqs)?,
        metadata: &metadata,
        hash: &hash(&content),
        expires_at: None,
    };
    let seq = change.insert(&new, &coded)?;
    change.log(
        Operation::Create,
        &id,
        &json!({"promoted_from": central.id, "episodes": seqs.len()}),
    )?;
    mentions::renew(change, seq)?;
    Ok((seq, id))
}
