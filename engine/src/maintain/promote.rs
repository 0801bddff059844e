//! Promotion: what several episodes say, not what happened several times, becomes a fact, with their project's audience, and linked
//! with each of them.
//!
//! The episodes themselves stay as they are. Only when clusters of two projects say the same is the fact for all of them. Not here: whether it
//! is true; the text is that of the most central episode, word for word.

use crate::db::clusters;
use crate::db::clusters::{Episode, Kind};
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::{Memory, New, Status};
use crate::db::vectors;
use crate::duplicate;
use crate::duplicate::Values;
use crate::error::Result;
use crate::maintain::compact::{add_source, average};
use crate::maintain::plan::{Member, digest};
use crate::model::encoding::Embedding;
use crate::model::time::Timestamp;
use crate::operations::store::hash;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use crate::{Shared, Writer};
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use loci_proto::requests::maintenance::{StepKind, StepReport};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};

/// Newest episodes of a project that are compared with each other: the work grows with the square of their number (4,000 take a second).
const COMPARED: usize = 4000;
/// Episodes that one is compared with once so many say the same: a fact needs no more.
const NEAR: usize = 256;
/// Ids that `metadata.source_ids` of a fact names; the links to all of them are kept beside.
const NAMED: usize = 40;

/// Episodes that say the same, and what becomes of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Promotion {
    pub(crate) key: String,
    /// The project, by its id.
    pub group: String,
    pub(crate) scope: Scope,
    pub(crate) members: Vec<Member>,
    /// Which member's text becomes the fact.
    pub(crate) central: usize,
    /// The fact that says it already.
    pub(crate) known: Option<(i64, MemoryId)>,
}

impl Promotion {
    pub(crate) fn told(&self) -> StepReport {
        let from = self.known.as_ref().map_or(&self.members[self.central].id, |(_, id)| id);
        StepReport {
            act: if self.known.is_some() { StepKind::Link } else { StepKind::Promote },
            cluster: self.key.clone(),
            group: self.group.clone(),
            scope: self.scope,
            week: None,
            members: self.members.iter().map(|member| member.id.clone()).collect(),
            from: Some(from.clone()),
            made: None,
            journal: None,
        }
    }

    fn row(&self) -> String {
        format!("promote/{}", self.key)
    }
}

/// The promotions that are due.
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
            if of_group.len() == COMPARED
                || index.slot(episode.seq).is_none_or(|slot| index.pieces(slot) != 1)
            {
                continue;
            }
            of_group.extend(index.direction(episode.seq).map(|direction| (episode, direction)));
        }
    }
    let mut found = Vec::new();
    for (group, mut candidates) in groups {
        candidates.reverse();
        let near = near(conn, &candidates, settings.rules.promotion_similarity)?;
        for star in stars(&candidates, &near, settings.rules.promotion_threshold) {
            found.push(Star {
                group: group.to_owned(),
                members: star.iter().map(|i| candidates[*i].clone()).collect(),
            });
        }
    }
    let facts = if found.is_empty() { Vec::new() } else { clusters::facts(conn)? };
    let known = Known { conn, shared, facts, now };
    let mut due = Vec::new();
    for stars in agreed(conn, found, settings.rules.promotion_similarity)? {
        let promotion = known.promotion(&stars)?;
        if !clusters::has(conn, &promotion.row())? {
            due.push(promotion);
        }
    }
    Ok(due)
}

/// Whether a fact may still be learnt from an episode: one that was used is not used again.
fn is_open(episode: &Episode, now: Timestamp) -> bool {
    let there = matches!(episode.status, Status::Active | Status::Compacted);
    there && !episode.made && !episode.promoted && episode.expires_at.is_none_or(|at| at > now)
}

/// Episodes around the most central one, which comes first.
struct Star<'a> {
    group: String,
    members: Vec<(&'a Episode, Embedding)>,
}

impl<'a> Star<'a> {
    fn centre(&self) -> &(&'a Episode, Embedding) {
        &self.members[0]
    }
}

/// For each candidate those that say the same: nearer than `similarity`, and not of another event by their texts. Of very many the oldest.
fn near(
    conn: &Connection,
    candidates: &[(&Episode, Embedding)],
    similarity: f64,
) -> Result<Vec<Vec<usize>>> {
    let mut values: HashMap<usize, Values> = HashMap::new();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); candidates.len()];
    for (a, (one, x)) in candidates.iter().enumerate() {
        for (b, (other, y)) in candidates[..a].iter().enumerate() {
            let full = near[a].len() >= NEAR || near[b].len() >= NEAR;
            if full || f64::from(x.cosine(y)) <= similarity {
                continue;
            }
            for (at, seq) in [(a, one.seq), (b, other.seq)] {
                if let Entry::Vacant(empty) = values.entry(at) {
                    empty.insert(Values::of(&text(conn, seq)?));
                }
            }
            if !values[&a].are_of_another_event(&values[&b]) {
                near[a].push(b);
                near[b].push(a);
            }
        }
    }
    Ok(near)
}

/// Groups of at least `least` episodes in which one is near all others; the largest are found first. The most central one comes first;
/// where several are equally central, the one that was used most, then the oldest.
fn stars(
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
        // Two decimals: below that, being more central is chance.
        (sum / members.len() as f32 * 100.0).round()
    };
    let worth = |i: usize| (centrality(i), candidates[i].0.access_count);
    let best = members.iter().copied().max_by(|a, b| {
        let ((near_a, used_a), (near_b, used_b)) = (worth(*a), worth(*b));
        near_a.total_cmp(&near_b).then(used_a.cmp(&used_b)).then(b.cmp(a))
    });
    best.unwrap_or(members[0])
}

/// Joins stars of different projects whose centres say the same fact: it is for all. Being alike is not enough, since what one project
/// says in the place of another's value is its own.
fn agreed<'a>(
    conn: &Connection,
    stars: Vec<Star<'a>>,
    similarity: f64,
) -> Result<Vec<Vec<Star<'a>>>> {
    let mut sets: Vec<Vec<Star<'_>>> = Vec::new();
    for star in stars {
        let mut joined = None;
        for (at, set) in sets.iter().enumerate() {
            let alike = |other: &Star<'_>| {
                other.group != star.group
                    && f64::from(other.centre().1.cosine(&star.centre().1)) > similarity
            };
            if set.iter().all(alike) && all_say(conn, set, &star)? {
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

fn all_say(conn: &Connection, set: &[Star<'_>], star: &Star<'_>) -> Result<bool> {
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

/// What is looked at beside the episodes.
struct Known<'a> {
    conn: &'a Connection,
    shared: &'a Shared,
    facts: Vec<Memory>,
    now: Timestamp,
}

impl Known<'_> {
    /// What becomes of stars that agree.
    fn promotion(&self, stars: &[Star<'_>]) -> Result<Promotion> {
        let scope = if stars.len() > 1 { Scope::Global } else { Scope::Group };
        // The largest cluster speaks for all; of equal ones the first project's.
        let speaker = (0..stars.len())
            .max_by_key(|i| (stars[*i].members.len(), std::cmp::Reverse(*i)))
            .unwrap_or(0);
        let (centre, group) = (&stars[speaker].members[0], stars[speaker].group.clone());
        let mut members: Vec<Member> = stars
            .iter()
            .flat_map(|star| star.members.iter().map(|(episode, _)| Member::from(*episode)))
            .collect();
        members.sort_by_key(|member| (member.at, member.seq));
        let central = members.iter().position(|member| member.seq == centre.0.seq).unwrap_or(0);
        let ids: Vec<&str> = members.iter().map(|member| member.id.as_str()).collect();
        let key = digest(&[&group, scope.as_str()], &ids);
        let own = |fact: &Memory| {
            fact.scope == Scope::Global
                || (scope == Scope::Group && fact.group.as_deref() == Some(group.as_str()))
        };
        let known = self.known(centre, own)?;
        Ok(Promotion { key, group, scope, members, central, known })
    }

    /// The first fact of a kind that says what an episode says.
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
            if self.says(fact, centre)? {
                return Ok(Some((fact.seq, fact.id.clone())));
            }
        }
        Ok(None)
    }

    /// Whether a fact says what an episode says: word for word, as the duplicate gate judges, or because it was learnt from its like.
    fn says(&self, fact: &Memory, (episode, direction): &(&Episode, Embedding)) -> Result<bool> {
        if hash(&fact.content).as_slice() == episode.hash.as_slice() {
            return Ok(true);
        }
        let settings = self.shared.settings();
        let cosine = self
            .shared
            .index()
            .direction(fact.seq)
            .map_or(0.0, |other| f64::from(other.cosine(direction)));
        if is_learnt(fact) && cosine > settings.rules.promotion_similarity {
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

fn is_learnt(fact: &Memory) -> bool {
    fact.metadata.get("promoted").is_some_and(|value| value == true)
}

impl Writer {
    /// Makes the fact, or links the episodes with the one that is known. Nothing is done when an episode has changed since the plan.
    ///
    /// # Errors
    /// `Database`.
    pub fn promote(&mut self, call: &CallContext, promotion: &Promotion) -> Result<StepReport> {
        self.once(call, |change| {
            let deed = promotion.told();
            if clusters::has(change.conn, &promotion.row())? || !still_open(change, promotion)? {
                return Ok(deed);
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
                    Kind::Promote,
                    call.now,
                )?;
                change.log(
                    Operation::Promote,
                    &member.id,
                    &json!({"into": id, "known": promotion.known.is_some()}),
                )?;
            }
            clusters::insert(change.conn, &promotion.row(), Kind::Promote, call.now)?;
            let journal = change.write_down("promote")?;
            Ok(StepReport { made: Some(id), journal, ..deed })
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

/// The fact's row. It is as sure as its episodes are on average: being told often is what made it a fact, not a reason for certainty.
fn insert(change: &mut Change<'_>, promotion: &Promotion) -> Result<(i64, MemoryId)> {
    let central = &promotion.members[promotion.central];
    let content = memories::by_seq(change.conn, central.seq)?
        .map(|memory| memory.content)
        .unwrap_or_default();
    let seqs: Vec<i64> = promotion.members.iter().map(|member| member.seq).collect();
    let coded = vectors::coded(change.conn, central.seq, &change.shared.settings().model)?;
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let ids: Vec<&str> =
        promotion.members.iter().take(NAMED).map(|member| member.id.as_str()).collect();
    let fields = json!({"promoted": true, "promoted_from": central.id, "source_ids": ids, "sources": seqs.len()});
    let metadata = if let Value::Object(fields) = fields { fields } else { Map::new() };
    let new = New {
        id: &id,
        kind: MemoryType::Semantic,
        content: &content,
        group: &promotion.group,
        scope: promotion.scope,
        confidence: average(change, &seqs)?,
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
