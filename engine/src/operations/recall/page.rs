//! The page of a recall: reads the rows of the best results, and leaves out and orders those that
//! say much the same.
//!
//! Texts are compared only where vectors and types allow it (`search::similar_results`). Not
//! here: the comparisons (`search::collapse`, `search::repeats`, `search::versions`), the content of
//! a result (`hydrate`).

use crate::db::memories::MemoryReader;
use crate::error::Result;
use crate::model::memory::Memory;
use crate::operations::recall::hydrate::{Hit, sources};
use crate::ranking::fusion::Fusion;
use crate::search::collapse;
use crate::search::repeats;
use crate::search::repeats::Pattern;
use crate::search::similar_results::SimilarResults;
use crate::search::versions;
use crate::search::versions::{ResultText, VersionOrder};
use loci_proto::memory::MemoryId;
use loci_proto::requests::explain::ScoreBreakdown;
use rusqlite::Connection;
use std::cell::OnceCell;

/// One memory that the index found.
pub(crate) struct FoundMemory {
    pub seq: i64,
    pub score: f64,
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

/// A result whose row is read.
struct Candidate {
    hit: Hit,
    /// Ranks of the better results that may be other versions of it.
    versions: Vec<usize>,
    /// Its pattern, once it was needed.
    pattern: OnceCell<Option<Pattern>>,
}

impl Page {
    /// Reads the rows of at most `limit` results. A result that states the same fact as a better one
    /// is listed there and not returned itself, and so are further results of one pattern; a newer
    /// value comes before an older one.
    pub(crate) fn read(
        conn: &Connection,
        ranked: Vec<FoundMemory>,
        limit: usize,
        fusion: Fusion,
    ) -> Result<Self> {
        let mut memories = MemoryReader::new(conn)?;
        let (mut candidates, mut collapsed, mut repeated) = (Vec::<Candidate>::new(), 0, 0);
        let may_have_more = ranked.len() == limit + collapse::SPARE;
        for (rank, found) in ranked.into_iter().enumerate() {
            let FoundMemory { seq, score, similar, summarised, why } = found;
            let SimilarResults { same_fact, same_pattern, versions } = similar;
            let is_on_page = candidates.len() < limit;
            if !is_on_page && same_fact.is_empty() && versions.is_empty() {
                continue;
            }
            let Some(memory) = memories.get(seq)? else { continue };
            let better = candidates.iter_mut().map(|candidate| &mut candidate.hit).find(|hit| {
                same_fact.contains(&hit.rank) && collapse::is_same_fact(&hit.memory, &memory)
            });
            if let Some(better) = better {
                better.also.push(memory.id);
                collapsed += 1;
                continue;
            }
            if let Some(first) = first_repeated(&mut candidates, &same_pattern, &memory) {
                if first.also.len() < repeats::LISTED {
                    first.also.push(memory.id);
                }
                repeated += 1;
                continue;
            }
            let sources = sources(&mut memories, &summarised)?;
            let hit = Hit { score: Some(score), why, rank, sources, ..Hit::of(memory) };
            candidates.push(Candidate { hit, versions, pattern: OnceCell::new() });
        }
        let has_room_for_more = may_have_more && repeated > 0 && candidates.len() < limit;
        let mut hits = match fusion {
            // The scores of reciprocal ranks do not say how well a result matches.
            Fusion::Rrf { .. } => candidates.into_iter().map(|candidate| candidate.hit).collect(),
            Fusion::Soft | Fusion::Weighted { .. } => newest_first(candidates),
        };
        hits.truncate(limit);
        Ok(Self { hits, collapsed: collapsed + repeated, has_room_for_more })
    }
}

/// Returns the first result that a memory repeats if as many of them are shown as may be;
/// `same_pattern` are the ranks of those that it may repeat.
fn first_repeated<'a>(
    candidates: &'a mut [Candidate],
    same_pattern: &[usize],
    memory: &Memory,
) -> Option<&'a mut Hit> {
    let pattern_of = |memory: &Memory| Pattern::of(memory.kind, &memory.content);
    let may_repeat = |candidate: &&mut Candidate| same_pattern.contains(&candidate.hit.rank);
    let similar: Vec<&mut Candidate> = candidates.iter_mut().filter(may_repeat).collect();
    if similar.len() < repeats::SHOWN {
        return None;
    }
    let pattern = pattern_of(memory)?;
    let repeated = similar.into_iter().filter(|candidate| {
        let shown = candidate.pattern.get_or_init(|| pattern_of(&candidate.hit.memory));
        shown.as_ref().is_some_and(|shown| shown.is_repeated_by(&pattern))
    });
    let mut repeated: Vec<&mut Candidate> = repeated.take(repeats::SHOWN).collect();
    (repeated.len() == repeats::SHOWN).then(|| &mut repeated.swap_remove(0).hit)
}

/// Puts results that state a newer value before those with the older one, and marks the latter.
fn newest_first(candidates: Vec<Candidate>) -> Vec<Hit> {
    let texts: Vec<ResultText<'_>> = candidates.iter().map(text_of).collect();
    let may_be_versions = |better: usize, worse: usize| {
        candidates[worse].versions.contains(&candidates[better].hit.rank)
    };
    let VersionOrder { order, newer } = versions::newest_first(&texts, may_be_versions);
    let id_of_newer = |at: usize| newer[at].map(|newer| candidates[newer].hit.memory.id.clone());
    let newer_ids: Vec<Option<MemoryId>> = (0..candidates.len()).map(id_of_newer).collect();
    let mut marked: Vec<Option<Hit>> = candidates
        .into_iter()
        .zip(newer_ids)
        .map(|(candidate, older_version_of)| Some(Hit { older_version_of, ..candidate.hit }))
        .collect();
    order.into_iter().filter_map(|at| marked[at].take()).collect()
}

fn text_of(candidate: &Candidate) -> ResultText<'_> {
    let Hit { memory, score, .. } = &candidate.hit;
    ResultText {
        kind: memory.kind,
        group: memory.group.as_deref(),
        seq: memory.seq,
        score: score.unwrap_or(0.0),
        content: &memory.content,
    }
}
