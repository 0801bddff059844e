//! The page of a recall: reads the rows of the best results, and leaves out and orders those that
//! say much the same.
//!
//! Texts are compared only where vectors and types allow it (`search::similar_results`). Not
//! here: the comparisons (`search::collapse`, `search::repeats`), the order of two versions
//! (`search::judge`), the content of a result (`hydrate`).

use crate::db::memories::MemoryReader;
use crate::error::Result;
use crate::model::event_date;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::operations::recall::hydrate::{Hit, sources};
use crate::search::collapse::{self, Representative, representative};
use crate::search::judge::Newer;
use crate::search::repeats;
use crate::search::repeats::Pattern;
use crate::search::similar_results::SimilarResults;
use loci_proto::memory::MemoryId;
use loci_proto::requests::explain::{NewerVersion, ScoreBreakdown};
use rusqlite::Connection;
use std::cell::OnceCell;
use std::collections::HashMap;

/// One memory that the index found.
pub(crate) struct FoundMemory {
    pub seq: i64,
    /// How likely it answers the query, 0 to 1; its score in an unjudged search.
    pub score: f64,
    /// Its score before it was judged.
    pub relevance: f64,
    /// The result that most likely states a newer value, with its sequence number.
    pub newer: Option<(i64, Newer)>,
    /// The better results that resemble it.
    pub similar: SimilarResults,
    /// For a summary, the sequence numbers of the memories whose score it took over, best first.
    pub summarised: Vec<i64>,
    pub why: Option<ScoreBreakdown>,
}

/// The results of a recall.
pub(crate) struct Page {
    pub hits: Vec<Hit>,
    /// Number of results that are only listed in `also` of a better one, or left out as its
    /// repeats.
    pub collapsed: usize,
    /// The page is not full, since it leaves out repeats, and there may be more candidates.
    pub has_room_for_more: bool,
}

/// How a page is ordered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOrder {
    /// Maximum number of results.
    pub limit: usize,
    /// Share of the relevance of a result from which a newer one of its pattern comes before it.
    pub min_share_of_newer: f64,
}

/// A result whose row is read.
struct Candidate {
    hit: Hit,
    relevance: f64,
    newer: Option<(i64, Newer)>,
    /// Ranks of the better results that may have its pattern.
    same_pattern: Vec<usize>,
    /// Its pattern, once it was needed.
    pattern: OnceCell<Option<Pattern>>,
}

impl Candidate {
    fn pattern(&self) -> Option<&Pattern> {
        let Memory { kind, content, .. } = &self.hit.memory;
        self.pattern.get_or_init(|| Pattern::of(*kind, content)).as_ref()
    }

    /// Shows another memory in the place of this result, which is listed in its `also`.
    fn stand_aside(&mut self, other: Hit, newer: Option<(i64, Newer)>) {
        let Hit { score, rank, .. } = self.hit;
        let shorter = std::mem::replace(&mut self.hit, Hit { score, rank, ..other });
        self.hit.also.push(shorter.memory.id);
        self.hit.also.extend(shorter.also);
        self.newer = newer;
        self.pattern = OnceCell::new();
    }
}

impl Page {
    /// Reads the rows of at most `limit` results. A result that states the same fact as a better one
    /// is listed there and not returned itself, and so are further results of one pattern.
    pub(crate) fn read(
        conn: &Connection,
        ranked: Vec<FoundMemory>,
        order: PageOrder,
    ) -> Result<Self> {
        let PageOrder { limit, min_share_of_newer } = order;
        let mut memories = MemoryReader::new(conn)?;
        let (mut candidates, mut collapsed, mut repeated_count) = (Vec::<Candidate>::new(), 0, 0);
        let may_have_more = ranked.len() == limit + collapse::SPARE;
        for (rank, found) in ranked.into_iter().enumerate() {
            let FoundMemory { seq, score, relevance, newer, similar, summarised, why } = found;
            let SimilarResults { same_fact, same_pattern } = similar;
            let is_on_page = candidates.len() < limit;
            if !is_on_page && same_fact.is_empty() {
                continue;
            }
            let Some(memory) = memories.get(seq)? else { continue };
            let same = candidates.iter_mut().find_map(|candidate| {
                let better = &candidate.hit;
                let is_compared = same_fact.contains(&better.rank)
                    && is_rejected(&better.memory) == is_rejected(&memory);
                let shown = is_compared.then(|| representative(&better.memory, &memory))??;
                Some((candidate, shown))
            });
            if let Some((better, shown)) = same {
                collapsed += 1;
                match shown {
                    Representative::First => better.hit.also.push(memory.id),
                    Representative::Second => {
                        let sources = sources(&mut memories, &summarised)?;
                        better.stand_aside(Hit { why, sources, ..Hit::of(memory) }, newer);
                    }
                }
                continue;
            }
            let shown = repeated(&candidates, &same_pattern, &memory);
            let new = Hit { score: Some(score), why, rank, ..Hit::of(memory) };
            if let Some(shown) = shown {
                fold(&mut candidates, &shown, new);
                repeated_count += 1;
                continue;
            }
            let sources = sources(&mut memories, &summarised)?;
            let hit = Hit { sources, ..new };
            candidates.push(Candidate {
                hit,
                relevance,
                newer,
                same_pattern,
                pattern: OnceCell::new(),
            });
        }
        let has_room_for_more = may_have_more && repeated_count > 0 && candidates.len() < limit;
        newest_repeat_first(&mut candidates, min_share_of_newer);
        candidates.truncate(limit);
        let hits = with_newer_versions(candidates);
        Ok(Self { hits, collapsed: collapsed + repeated_count, has_room_for_more })
    }
}

/// Returns whether a memory is an attempt that was given up: it does not state what another states.
fn is_rejected(memory: &Memory) -> bool {
    memory.status == Status::Rejected
}

/// Returns the positions of the results that a memory repeats if as many of them are shown as may
/// be; `same_pattern` are the ranks of those that it may repeat.
fn repeated(
    candidates: &[Candidate],
    same_pattern: &[usize],
    memory: &Memory,
) -> Option<[usize; repeats::SHOWN]> {
    let similar = candidates.iter().enumerate().filter(|(_, candidate)| {
        let shown = &candidate.hit.memory;
        same_pattern.contains(&candidate.hit.rank)
            && is_rejected(shown) == is_rejected(memory)
            && collapse::standing(shown) == collapse::standing(memory)
    });
    if similar.clone().count() < repeats::SHOWN {
        return None;
    }
    let pattern = Pattern::of(memory.kind, &memory.content)?;
    let repeated = similar.filter(|(_, candidate)| {
        candidate.pattern().is_some_and(|shown| shown.is_repeated_by(&pattern))
    });
    let positions: Vec<usize> = repeated.map(|(at, _)| at).take(repeats::SHOWN).collect();
    positions.try_into().ok()
}

/// Lists a result in `also` of the first of those that it repeats. If it is newer than all of them,
/// it takes the place of the last one, which is listed instead.
fn fold(candidates: &mut [Candidate], shown: &[usize; repeats::SHOWN], new: Hit) {
    let [first, .., last] = *shown;
    let is_newest = shown.iter().all(|at| age_key(&candidates[*at].hit) < age_key(&new));
    let folded = if is_newest {
        candidates[last].pattern = OnceCell::new();
        std::mem::replace(&mut candidates[last].hit, new)
    } else {
        new
    };
    let also = &mut candidates[first].hit.also;
    let room = repeats::LISTED.saturating_sub(also.len());
    also.extend(std::iter::once(folded.memory.id).chain(folded.also).take(room));
}

/// Orders memories by the day of their event, then by the order of storing.
fn age_key(hit: &Hit) -> (i32, i64) {
    let Memory { content, metadata, created_at, seq, .. } = &hit.memory;
    (event_date::day(content, metadata).unwrap_or_else(|| created_at.day()), *seq)
}

/// Puts the newer of two results of one pattern first if it has this share of the other's relevance.
fn newest_repeat_first(candidates: &mut [Candidate], min_share: f64) {
    for worse in 1..candidates.len() {
        for better in 0..worse {
            let (old, new) = (&candidates[better], &candidates[worse]);
            let is_repeat = || {
                old.pattern().zip(new.pattern()).is_some_and(|(old, new)| old.is_repeated_by(new))
            };
            if new.same_pattern.contains(&old.hit.rank)
                && collapse::standing(&old.hit.memory) <= collapse::standing(&new.hit.memory)
                && new.relevance >= min_share * old.relevance
                && age_key(&old.hit) < age_key(&new.hit)
                && is_repeat()
            {
                candidates.swap(better, worse);
                break;
            }
        }
    }
}

/// Marks the results of which another result on the page states a newer value.
fn with_newer_versions(candidates: Vec<Candidate>) -> Vec<Hit> {
    let ids: HashMap<i64, MemoryId> = candidates
        .iter()
        .map(|candidate| (candidate.hit.memory.seq, candidate.hit.memory.id.clone()))
        .collect();
    let marked = |Candidate { mut hit, newer, .. }: Candidate| {
        let Some((id, newer)) = newer.and_then(|(seq, newer)| Some((ids.get(&seq)?, newer))) else {
            return hit;
        };
        hit.older_version_of = newer.replaces().then(|| id.clone());
        if let Some(why) = &mut hit.why {
            let (id, likelihood) = (id.clone(), newer.likelihood);
            why.newer = Some(NewerVersion { id, likelihood, evidence: newer.named() });
        }
        hit
    };
    candidates.into_iter().map(marked).collect()
}

/// Returns whether one memory may state a newer value than another: it is trusted as much, as for
/// superseding it, of two days it has the later one, and both or neither were given up.
pub(super) fn may_be_newer(newer: &Memory, older: &Memory) -> bool {
    let day = |memory: &Memory| event_date::day(&memory.content, &memory.metadata);
    // The day of storing says nothing about a memory that has a day of its own.
    let is_earlier = day(newer).zip(day(older)).is_some_and(|(newer, older)| newer < older);
    newer.provenance.may_replace(&older.provenance)
        && !is_earlier
        && is_rejected(newer) == is_rejected(older)
}
