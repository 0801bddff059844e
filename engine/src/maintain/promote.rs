//! Promotion: a statement that several episodes repeat becomes a fact (a semantic memory) with the
//! scope of their project, linked with each of them.
//!
//! The episodes themselves do not change. The fact is global only if episodes of at least two
//! projects state it. Its text is that of the most central episode, word for word. Not here:
//! checking whether it is true.

use crate::db::clusters;
use crate::db::clusters::{ClusterKind, Episode};
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::NewMemory;
use crate::db::vectors;
use crate::duplicate;
use crate::duplicate::TextValues;
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::flags::Flags;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::maintain::sources::{add_source, mean_confidence, provenance};
use crate::maintain::steps::{Member, Promotion, digest};
use crate::model::encoding::{Embedding, ModelEncoding, TextEncodings};
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::{Audience, Isolation, Visibility};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use loci_proto::requests::maintenance::StepReport;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet};

/// Maximum episodes of a project that are compared, newest first. They are compared pairwise: 4,000
/// take about a second.
const MAX_COMPARED: usize = 4000;
/// An episode with this many similar ones is not compared with others: a fact needs no more.
const MAX_SIMILAR: usize = 256;
/// Maximum ids in `metadata.source_ids` of a fact; links to all sources are stored separately.
const MAX_NAMED_SOURCES: usize = 40;

/// Returns the promotions that are due.
pub(crate) fn promotions(
    conn: &Connection,
    shared: &Shared,
    episodes: &[Episode],
    now: Timestamp,
) -> Result<Vec<Promotion>> {
    let settings = shared.settings();
    let mut by_project: BTreeMap<&str, Vec<Candidate<'_>>> = BTreeMap::new();
    {
        let index = shared.index();
        for episode in episodes.iter().rev().filter(|episode| is_promotable(episode, now)) {
            let candidates = by_project.entry(&episode.group).or_default();
            if candidates.len() == MAX_COMPARED
                || index.slot(episode.seq).is_none_or(|slot| index.text_chunk_count(slot) != 1)
            {
                continue;
            }
            candidates.extend(
                index.direction(episode.seq).map(|direction| Candidate { episode, direction }),
            );
        }
    }
    let mut similar_groups = Vec::new();
    for (project, mut candidates) in by_project {
        candidates.reverse();
        let similar = similar_episodes(conn, &candidates, settings.rules.promotion_similarity)?;
        for star in star_clusters(&candidates, &similar, settings.rules.promotion_threshold) {
            if is_of_one_session(&candidates, &star) {
                continue;
            }
            similar_groups.push(SimilarGroup {
                project: project.to_owned(),
                members: star.iter().map(|i| candidates[*i].clone()).collect(),
            });
        }
    }
    let facts = if similar_groups.is_empty() { Vec::new() } else { clusters::facts(conn)? };
    let existing_facts = ExistingFacts { conn, shared, facts, now };
    let mut due = Vec::new();
    let similarity = settings.rules.promotion_similarity;
    let isolation = shared.isolation();
    for groups in join_across_projects(conn, similar_groups, similarity, &isolation)? {
        let promotion = existing_facts.promotion(&groups)?;
        if !clusters::is_processed(conn, &promotion.processed_key())? {
            due.push(promotion);
        }
    }
    Ok(due)
}

/// Returns true if one session stored all of these episodes: it may have repeated itself, so they
/// are no evidence. False if a session is not known.
fn is_of_one_session(candidates: &[Candidate<'_>], star: &[usize]) -> bool {
    let sessions: Option<HashSet<&str>> =
        star.iter().map(|i| candidates[*i].episode.session.as_deref()).collect();
    sessions.is_some_and(|sessions| sessions.len() == 1)
}

/// Returns whether an episode may be promoted: each episode supports only one fact. A gated one
/// supports none, nor does one whose text names its day: it states what happened then.
fn is_promotable(episode: &Episode, now: Timestamp) -> bool {
    let is_kept = matches!(episode.status, Status::Active | Status::Compacted);
    is_kept
        && !episode.is_generated
        && !episode.was_promoted
        && !episode.is_gated
        && !episode.names_day
        && episode.expires_at.is_none_or(|at| at > now)
}

/// An episode with its mean vector.
#[derive(Clone)]
struct Candidate<'a> {
    episode: &'a Episode,
    direction: Embedding,
}

/// Similar episodes of one project; the most central one comes first.
struct SimilarGroup<'a> {
    /// The project, by its id.
    project: String,
    members: Vec<Candidate<'a>>,
}

impl<'a> SimilarGroup<'a> {
    fn centre(&self) -> &Candidate<'a> {
        &self.members[0]
    }
}

/// Returns for each candidate the positions of similar ones: their cosine is above `similarity`,
/// and their values do not indicate another event. At most [`MAX_SIMILAR`], preferring the oldest.
fn similar_episodes(
    conn: &Connection,
    candidates: &[Candidate<'_>],
    similarity: f64,
) -> Result<Vec<Vec<usize>>> {
    let mut values: HashMap<usize, TextValues> = HashMap::new();
    let mut similar: Vec<Vec<usize>> = vec![Vec::new(); candidates.len()];
    for (a, one) in candidates.iter().enumerate() {
        for (b, other) in candidates[..a].iter().enumerate() {
            let is_full = similar[a].len() >= MAX_SIMILAR || similar[b].len() >= MAX_SIMILAR;
            if is_full || f64::from(one.direction.cosine(&other.direction)) <= similarity {
                continue;
            }
            for (position, candidate) in [(a, one), (b, other)] {
                if let Entry::Vacant(vacant) = values.entry(position) {
                    vacant.insert(TextValues::of(&text(conn, candidate.episode.seq)?));
                }
            }
            if !values[&a].describes_other_event(&values[&b]) {
                similar[a].push(b);
                similar[b].push(a);
            }
        }
    }
    Ok(similar)
}

/// Returns groups of at least `min_size` candidates in which one is similar to all others, largest
/// first. Each starts with its most central candidate.
fn star_clusters(
    candidates: &[Candidate<'_>],
    similar: &[Vec<usize>],
    min_size: usize,
) -> Vec<Vec<usize>> {
    let mut degrees: Vec<usize> = similar.iter().map(Vec::len).collect();
    let mut open = vec![true; candidates.len()];
    let mut stars = Vec::new();
    loop {
        let best = (0..candidates.len())
            .filter(|i| open[*i])
            .max_by_key(|i| (degrees[*i], std::cmp::Reverse(*i)));
        let Some(centre) = best.filter(|i| degrees[*i] + 1 >= min_size) else { return stars };
        let mut members: Vec<usize> =
            similar[centre].iter().copied().filter(|other| open[*other]).collect();
        members.push(centre);
        members.sort_unstable();
        for member in &members {
            open[*member] = false;
            similar[*member].iter().for_each(|other| degrees[*other] -= 1);
        }
        let first = most_central(candidates, &members);
        members.retain(|member| *member != first);
        members.insert(0, first);
        stars.push(members);
    }
}

/// Returns the member with the highest mean cosine to all members; on ties the one with more
/// accesses, then the older.
fn most_central(candidates: &[Candidate<'_>], members: &[usize]) -> usize {
    let centrality = |i: usize| {
        let sum: f32 = members
            .iter()
            .map(|other| candidates[i].direction.cosine(&candidates[*other].direction))
            .sum();
        // Rounded to two decimals, because smaller differences are noise.
        (sum / members.len() as f32 * 100.0).round()
    };
    let accesses = |i: usize| candidates[i].episode.access_count;
    let best = members.iter().copied().max_by(|&a, &b| {
        centrality(a)
            .total_cmp(&centrality(b))
            .then_with(|| accesses(a).cmp(&accesses(b)))
            .then_with(|| b.cmp(&a))
    });
    best.unwrap_or(members[0])
}

/// Joins groups of different projects whose centres state the same fact, which becomes global. A
/// high cosine is not enough, since the same sentence may have another value in each project. An
/// isolated project is joined with no other.
fn join_across_projects<'a>(
    conn: &Connection,
    groups: Vec<SimilarGroup<'a>>,
    similarity: f64,
    isolation: &Isolation,
) -> Result<Vec<Vec<SimilarGroup<'a>>>> {
    let mut sets: Vec<Vec<SimilarGroup<'_>>> = Vec::new();
    for group in groups {
        let mut joined = None;
        for (position, set) in sets.iter().enumerate() {
            let is_similar = |other: &SimilarGroup<'_>| {
                other.project != group.project
                    && !isolation.is_isolated(&other.project)
                    && !isolation.is_isolated(&group.project)
                    && f64::from(other.centre().direction.cosine(&group.centre().direction))
                        > similarity
            };
            if set.iter().all(is_similar) && all_state_same_fact(conn, set, &group)? {
                joined = Some(position);
                break;
            }
        }
        match joined {
            Some(position) => sets[position].push(group),
            None => sets.push(vec![group]),
        }
    }
    Ok(sets)
}

fn all_state_same_fact(
    conn: &Connection,
    set: &[SimilarGroup<'_>],
    group: &SimilarGroup<'_>,
) -> Result<bool> {
    let statement = text(conn, group.centre().episode.seq)?;
    for other in set {
        if !duplicate::same_fact(&text(conn, other.centre().episode.seq)?, &statement) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn text(conn: &Connection, seq: i64) -> Result<String> {
    Ok(memories::by_seq(conn, seq)?.map(|memory| memory.content).unwrap_or_default())
}

/// The existing facts, with which episodes are compared.
struct ExistingFacts<'a> {
    conn: &'a Connection,
    shared: &'a Shared,
    facts: Vec<Memory>,
    now: Timestamp,
}

impl ExistingFacts<'_> {
    /// Returns the promotion of groups that state the same fact.
    fn promotion(&self, groups: &[SimilarGroup<'_>]) -> Result<Promotion> {
        let scope = if groups.len() > 1 { Scope::Global } else { Scope::Group };
        // The text is that of the largest group; on ties that of the first project.
        let largest = (0..groups.len())
            .max_by_key(|i| (groups[*i].members.len(), std::cmp::Reverse(*i)))
            .unwrap_or(0);
        let largest = &groups[largest];
        let (centre, group) = (largest.centre(), largest.project.clone());
        let mut members: Vec<Member> = groups
            .iter()
            .flat_map(|group| &group.members)
            .map(|candidate| Member::from(candidate.episode))
            .collect();
        members.sort_by_key(|member| (member.at, member.seq));
        let central =
            members.iter().position(|member| member.seq == centre.episode.seq).unwrap_or(0);
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        let key = digest(&[&group, scope.as_str()], &ids);
        let audience = Audience::new(scope, Some(&group));
        let existing = self.find_stating(centre, &group, audience)?;
        Ok(Promotion { key, group, scope, members, central, existing })
    }

    /// Returns the first fact that states the same as the episode, is visible to the whole audience
    /// and has not expired.
    fn find_stating(
        &self,
        candidate: &Candidate<'_>,
        project: &str,
        audience: Audience<'_>,
    ) -> Result<Option<(i64, MemoryId)>> {
        let visibility = Visibility::of_group(project, self.shared.isolation());
        let is_eligible = |fact: &&Memory| {
            fact.audience().includes(audience)
                && visibility.admits(fact.audience())
                && fact.expires_at.is_none_or(|at| at > self.now)
        };
        for fact in self.facts.iter().filter(is_eligible) {
            if self.states_same(fact, candidate)? {
                return Ok(Some((fact.seq, fact.id.clone())));
            }
        }
        Ok(None)
    }

    /// Returns whether a fact states the same as an episode: their texts are equal, or the
    /// duplicate guard says so, or the fact was promoted from similar episodes.
    fn states_same(&self, fact: &Memory, candidate: &Candidate<'_>) -> Result<bool> {
        let Candidate { episode, direction } = candidate;
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
        let memory = if cosine > settings.dedup_threshold {
            memories::by_seq(self.conn, episode.seq)?
        } else {
            None
        };
        Ok(memory.is_some_and(|memory| duplicate::same_fact(&fact.content, &memory.content)))
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
            if clusters::is_processed(change.conn, &promotion.processed_key())?
                || !still_promotable(change, promotion)?
            {
                return Ok(report);
            }
            let (seq, id) = match &promotion.existing {
                Some(existing) => existing.clone(),
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
                    &json!({"into": id, "known": promotion.existing.is_some()}),
                )?;
            }
            clusters::insert(
                change.conn,
                &promotion.processed_key(),
                ClusterKind::Promote,
                call.now,
            )?;
            let journal = change.commit_to_journal("promote")?;
            Ok(StepReport { made: Some(id), journal, ..report })
        })
    }
}

/// Returns whether every episode, and the existing fact, is still in the state of the plan.
fn still_promotable(change: &Change<'_>, promotion: &Promotion) -> Result<bool> {
    for member in &promotion.members {
        let episode = clusters::episode_of(change.conn, member.seq)?;
        if !episode.is_some_and(|current| {
            is_promotable(&current, change.call.now) && current.hash == member.hash
        }) {
            return Ok(false);
        }
    }
    match &promotion.existing {
        Some((seq, _)) => {
            Ok(memories::by_seq(change.conn, *seq)?
                .is_some_and(|fact| fact.status == Status::Active))
        }
        None => Ok(true),
    }
}

/// Returns the encodings of a memory in every set in use.
fn encodings_of(change: &Change<'_>, seq: i64) -> Result<TextEncodings> {
    let sets = change.shared.sets();
    let encoded = sets.in_use().map(|set| {
        let encoding = vectors::encoding(change.conn, seq, &set.name)?;
        Ok(ModelEncoding { model: set.model.as_str().into(), encoding })
    });
    encoded.collect()
}

/// Inserts the fact. Its confidence is the mean of its episodes: repetition does not make it
/// certain.
fn insert(change: &mut Change<'_>, promotion: &Promotion) -> Result<(i64, MemoryId)> {
    let central = &promotion.members[promotion.central];
    let content = memories::by_seq(change.conn, central.seq)?
        .map(|memory| memory.content)
        .unwrap_or_default();
    let seqs: Vec<i64> = promotion.members.iter().map(|member| member.seq).collect();
    let encodings = encodings_of(change, central.seq)?;
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let ids: Vec<&str> =
        promotion.members.iter().take(MAX_NAMED_SOURCES).map(|member| member.id.as_str()).collect();
    let fields = json!({"promoted": true, "promoted_from": central.id, "source_ids": ids, "sources": seqs.len()});
    let metadata = if let Value::Object(fields) = fields { fields } else { Map::new() };
    let new = NewMemory {
        id: &id,
        kind: MemoryType::Semantic,
        content: &content,
        group: Some(&promotion.group),
        scope: promotion.scope,
        confidence: mean_confidence(change, &seqs)?,
        metadata: &metadata,
        hash: &hash(&content),
        expires_at: None,
        provenance: &provenance(change, Flags::default(), &seqs)?,
        importance: None,
    };
    let seq = change.insert(&new, &encodings)?;
    change.log(
        Operation::Create,
        &id,
        &json!({"promoted_from": central.id, "episodes": seqs.len()}),
    )?;
    mentions::renew(change, seq)?;
    Ok((seq, id))
}
