//! Associations: memories that a search does not find, but that are linked to its results.
//!
//! A candidate is reached from a result by the graph (an entity that both mention, or over relations),
//! by its day, or as a neighbour in storage order. Its score is relevance × (1 - obviousness) ×
//! distance. Pure and deterministic. Not here: rows and replies (`operations::recall::associations`).

use crate::index::{Index, Mask, QuantizedVector, Row, slot_id};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Associations of one reply.
pub const MAX: usize = 3;
/// Score from which a memory is an association.
pub(crate) const MIN_SCORE: f64 = 0.1;
/// Results from which associations start, the best first.
pub const MAX_SOURCES: usize = 5;

/// Share of the strength that each relation on a path keeps.
const RELATION_SHARE: f64 = 0.7;
/// Relations on a path.
const MAX_RELATIONS: usize = 2;
/// Entities that are followed from one entity, and memories of one entity, the newest first.
const MAX_LINKS: usize = 50;
/// Entities of all paths from one result.
const MAX_ENTITIES: usize = 200;
/// Strength of a neighbour one and two places away in storage order.
const NEIGHBOURS: [f64; 2] = [1.0, 0.7];
/// Memories of other projects that are skipped in the search for a neighbour.
const MAX_SKIPPED: usize = 64;
/// A day with more other memories than this links none of them: 1 / sqrt(100) is [`MIN_SCORE`].
const MAX_SAME_DAY: usize = 100;
/// Cosine up to which a memory has nothing to do with another, and from which it surely has: notes on
/// different subjects have about 0.1, notes about one system 0.4 to 0.6. A day or a neighbour alone
/// links memories that have nothing to do with each other.
const RELATED_COSINE: [f64; 2] = [0.1, 0.5];
/// The cosine of two texts one of which has no vector.
const UNKNOWN_COSINE: f64 = 0.5;

/// A result from which associations start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// The slot of the memory.
    pub slot: usize,
    /// Its share of the best score, 0 to 1.
    pub share: f64,
}

impl Source {
    /// Returns whether a link of this strength can give [`MIN_SCORE`]: the other factors are at most 1.
    fn may_reach(self, strength: f64) -> bool {
        self.share.clamp(0.0, 1.0) * strength >= MIN_SCORE
    }
}

/// What links a memory to a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// They mention these entities, or the path between them does; by sequence number.
    Graph(Vec<i64>),
    /// They are of the same day.
    Time,
    /// They are next to each other in storage order.
    Adjacent,
}

impl Link {
    /// Returns the entities on the path, by sequence number.
    pub fn entities(&self) -> &[i64] {
        match self {
            Self::Graph(path) => path,
            Self::Time | Self::Adjacent => &[],
        }
    }
}

/// A memory linked to a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Associated {
    /// The slot of the linked memory.
    pub slot: usize,
    /// The slot of the result.
    pub from: usize,
    /// How the two are linked.
    pub link: Link,
    /// The strength of the link, 0 to 1.
    pub score: f64,
}

/// What associations are searched in.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The index that is searched.
    pub index: &'a Index,
    /// The memories that may be associations.
    pub mask: &'a Mask,
    /// The memories that may be on a path.
    pub path: &'a Mask,
    /// What a search compares with: the query, or the memory where a walk began.
    pub obvious: Option<&'a QuantizedVector>,
}

/// A memory that is linked, before it is compared.
struct Candidate {
    slot: usize,
    strength: f64,
    link: Link,
}

/// Returns the associations of some results, best first; none of `excluded`.
pub fn associations(
    around: Surroundings<'_>,
    sources: &[Source],
    excluded: &HashSet<usize>,
) -> Vec<Associated> {
    let sources = &sources[..sources.len().min(MAX_SOURCES)];
    let by_day = slots_by_day(around, sources);
    let mut best: HashMap<usize, Associated> = HashMap::new();
    for source in sources {
        let mut candidates = by_graph(around, *source);
        candidates.extend(by_time(around, source.slot, &by_day));
        candidates.extend(by_neighbours(around, source.slot));
        candidates.retain(|candidate| {
            source.may_reach(candidate.strength)
                && !excluded.contains(&candidate.slot)
                && candidate.slot != source.slot
                && around.mask.admits(candidate.slot)
        });
        for found in scored(around, *source, candidates) {
            let known = best.get(&found.slot);
            if known.is_none_or(|known| order(around.index, &found, known).is_lt()) {
                best.insert(found.slot, found);
            }
        }
    }
    let mut found: Vec<Associated> = best.into_values().collect();
    found.sort_by(|one, other| order(around.index, one, other));
    without_repeats(around.index, found, excluded)
}

/// The highest score first; of equal ones the newest memory, then the graph before the others.
fn order(index: &Index, one: &Associated, other: &Associated) -> Ordering {
    let rank = |link: &Link| match link {
        Link::Graph(_) => 0,
        Link::Time => 1,
        Link::Adjacent => 2,
    };
    (other.score.total_cmp(&one.score))
        .then_with(|| index.seq(other.slot).cmp(&index.seq(one.slot)))
        .then_with(|| rank(&one.link).cmp(&rank(&other.link)))
}

/// Keeps the best, without those whose text is that of a result or of a better one.
fn without_repeats(
    index: &Index,
    found: Vec<Associated>,
    excluded: &HashSet<usize>,
) -> Vec<Associated> {
    let fingerprint = |slot: usize| index.text_features(slot).fingerprint;
    let mut texts: HashSet<u64> = excluded.iter().map(|slot| fingerprint(*slot)).collect();
    found.into_iter().filter(|found| texts.insert(fingerprint(found.slot))).take(MAX).collect()
}

/// Compares candidates with the query and with their source.
fn scored(
    around: Surroundings<'_>,
    source: Source,
    candidates: Vec<Candidate>,
) -> impl Iterator<Item = Associated> {
    let slots: Vec<u32> = candidates.iter().map(|candidate| slot_id(candidate.slot)).collect();
    let own = around.index.vector(source.slot, 0).map(Row::to_owned_vector);
    let to_source = cosines(around.index, own.as_ref(), &slots);
    let to_obvious = cosines(around.index, around.obvious, &slots);
    let compared = candidates.into_iter().zip(to_source).zip(to_obvious);
    compared.filter_map(move |((Candidate { slot, strength, link }, to_source), to_obvious)| {
        let [unrelated, related] = RELATED_COSINE;
        let relatedness = match link {
            Link::Graph(_) => 1.0,
            _ => ((to_source - unrelated) / (related - unrelated)).clamp(0.0, 1.0),
        };
        let relevance = source.share.clamp(0.0, 1.0) * strength * relatedness;
        let score = relevance * (1.0 - to_obvious) * (1.0 - to_source);
        (score >= MIN_SCORE).then_some(Associated { slot, from: source.slot, link, score })
    })
}

/// Returns the cosine to each slot, 0 to 1.
fn cosines(index: &Index, vector: Option<&QuantizedVector>, slots: &[u32]) -> Vec<f64> {
    let Some(vector) = vector else { return vec![UNKNOWN_COSINE; slots.len()] };
    let known = |slot: &u32| index.vector(*slot as usize, 0).is_some();
    let cosine = |(slot, cosine): (&u32, f32)| {
        if known(slot) { f64::from(cosine).clamp(0.0, 1.0) } else { UNKNOWN_COSINE }
    };
    slots.iter().zip(index.cosines(vector, slots)).map(cosine).collect()
}

/// How much one of several links says.
fn specificity(links: usize) -> f64 {
    1.0 / (1.0 + (links.max(1) as f64).ln())
}

/// Follows entities and their relations, breadth first.
fn by_graph(around: Surroundings<'_>, source: Source) -> Vec<Candidate> {
    let graph = around.index.graph();
    if graph.is_empty() {
        return Vec::new();
    }
    let seq = around.index.seq(source.slot);
    let may_pass = |seq: i64| around.index.slot(seq).is_some_and(|slot| around.path.admits(slot));
    let first = std::iter::once(seq).chain(graph.entities_mentioned_in(seq).iter().copied());
    let mut seen: HashSet<i64> = HashSet::new();
    let mut level: Vec<(Vec<i64>, f64)> = first
        .filter(|entity| may_pass(*entity) && seen.insert(*entity))
        .map(|entity| (vec![entity], 1.0))
        .collect();
    let mut candidates = Vec::new();
    for relations in 0..=MAX_RELATIONS {
        let mut next = Vec::new();
        for (path, strength) in level {
            let Some(entity) = path.last().copied() else { continue };
            candidates.extend(mentions(around, source, &path, strength));
            let related = graph.related(entity);
            let strength = strength * RELATION_SHARE * specificity(related.len());
            if relations == MAX_RELATIONS || !source.may_reach(strength) {
                continue;
            }
            for other in related.iter().rev().take(MAX_LINKS) {
                if seen.len() >= MAX_ENTITIES || !may_pass(*other) || !seen.insert(*other) {
                    continue;
                }
                let path: Vec<i64> = path.iter().copied().chain([*other]).collect();
                next.push((path, strength));
            }
        }
        level = next;
    }
    candidates
}

/// Returns the last entity of a path, and the memories that mention it.
fn mentions(
    around: Surroundings<'_>,
    source: Source,
    path: &[i64],
    strength: f64,
) -> Vec<Candidate> {
    let Some(entity) = path.last() else { return Vec::new() };
    let mentioning = around.index.graph().memories_mentioning(*entity);
    let of_mention = strength * specificity(mentioning.len().saturating_sub(1));
    let may_reach = source.may_reach(of_mention);
    let mut newest: Vec<i64> = mentioning.iter().copied().filter(|_| may_reach).collect();
    newest.sort_unstable_by(|one, other| other.cmp(one));
    newest.truncate(MAX_LINKS);
    let linked = newest.into_iter().map(|seq| (seq, of_mention));
    std::iter::once((*entity, strength))
        .chain(linked)
        .filter_map(|(seq, strength)| Some((around.index.slot(seq)?, strength)))
        .map(|(slot, strength)| Candidate { slot, strength, link: Link::Graph(path.to_vec()) })
        .collect()
}

/// Returns the admitted memories of each day of the sources, in one pass.
fn slots_by_day(around: Surroundings<'_>, sources: &[Source]) -> Vec<(i32, Vec<usize>)> {
    let day = |slot: usize| around.index.text_features(slot).day;
    let mut by_day: Vec<(i32, Vec<usize>)> = Vec::with_capacity(sources.len());
    for day in sources.iter().filter_map(|source| day(source.slot)) {
        if !by_day.iter().any(|(known, _)| *known == day) {
            by_day.push((day, Vec::new()));
        }
    }
    for slot in around.mask.slots() {
        let Some(day) = day(slot) else { continue };
        if let Some((_, slots)) = by_day.iter_mut().find(|(known, _)| *known == day) {
            slots.push(slot);
        }
    }
    by_day
}

/// Returns the memories of the same day and project.
fn by_time(
    around: Surroundings<'_>,
    source: usize,
    by_day: &[(i32, Vec<usize>)],
) -> Vec<Candidate> {
    let index = around.index;
    let day = index.text_features(source).day;
    let of_day = by_day.iter().find(|(known, _)| Some(*known) == day).map(|(_, slots)| slots);
    let is_near = |slot: &usize| *slot != source && index.group(*slot) == index.group(source);
    let others: Vec<usize> = of_day.into_iter().flatten().copied().filter(is_near).collect();
    if others.len() > MAX_SAME_DAY {
        return Vec::new();
    }
    let strength = 1.0 / (others.len().max(1) as f64).sqrt();
    others.into_iter().map(|slot| Candidate { slot, strength, link: Link::Time }).collect()
}

/// Returns the neighbours in the storage order of the project.
fn by_neighbours(around: Surroundings<'_>, source: usize) -> Vec<Candidate> {
    let Surroundings { index, mask, .. } = around;
    let mut candidates = Vec::new();
    let steps: [&dyn Fn(usize) -> Option<usize>; 2] =
        [&|slot| mask.before(slot), &|slot| mask.after(slot)];
    for step in steps {
        let mut slots = std::iter::successors(step(source), |slot| step(*slot))
            .take(MAX_SKIPPED)
            .filter(|slot| index.group(*slot) == index.group(source));
        for strength in NEIGHBOURS {
            let Some(slot) = slots.next() else { break };
            candidates.push(Candidate { slot, strength, link: Link::Adjacent });
        }
    }
    candidates
}
