//! Summary roll-up: a summary takes over the score of the best memory that it replaces, and the
//! reply names the memories it was returned for.
//!
//! An extractive summary only repeats its memories, so it is not ranked next to them: with its many
//! words it would outrank every short text, and its position in storage order means nothing. A
//! summary that an agent wrote is ranked. The replaced memories rank with half their score. Not
//! here: scoring (`ranking`).

use crate::index::{Index, Mask};
use crate::ranking::fusion;
use crate::ranking::fusion::ScoredSlot;
use std::collections::{HashMap, HashSet};

/// Factor on the score of a memory that a summary replaces.
const COMPACTED_FACTOR: f64 = 0.5;
/// Maximum nesting of summaries.
const MAX_DEPTH: usize = 4;

/// The factor on the score of a memory.
pub fn weight(index: &Index, slot: usize) -> f64 {
    if index.is_compacted(slot) { COMPACTED_FACTOR } else { 1.0 }
}

/// For each admitted compacted memory the topmost summary above it.
#[derive(Debug, Default)]
pub(crate) struct SummaryTree {
    /// In order of `memory`.
    tops: Vec<Top>,
    /// Summaries of memories that are not admitted: only the summaries have their content.
    sole_sources: HashSet<usize>,
}

/// A compacted memory and the summary that replaces it, both by slot.
#[derive(Debug, Clone, Copy)]
struct Top {
    memory: usize,
    summary: usize,
}

impl SummaryTree {
    /// Finds the topmost admitted summary above each compacted memory.
    pub fn new(index: &Index, mask: &Mask) -> Self {
        let (mut tops, mut sole_sources) = (Vec::new(), HashSet::new());
        // The memories of one summary are adjacent, so the chain of the previous memory is reused.
        let mut previous: Option<(i64, Vec<usize>)> = None;
        for slot in index.compacted_slots() {
            let Some(seq) = index.summary(slot) else { continue };
            let chain = match previous.take() {
                Some((summary, chain)) if summary == seq => chain,
                _ => chain(index, mask, slot),
            };
            match chain.last() {
                Some(top) if mask.admits(slot) => tops.push(Top { memory: slot, summary: *top }),
                _ => sole_sources.extend(&chain),
            }
            previous = Some((seq, chain));
        }
        Self { tops, sole_sources }
    }

    fn top(&self, memory: usize) -> Option<usize> {
        let at = self.tops.binary_search_by_key(&memory, |top| top.memory).ok()?;
        Some(self.tops[at].summary)
    }

    /// Returns the extractive summaries whose memories are all admitted: they add nothing to these.
    pub(crate) fn redundant(&self, index: &Index) -> HashSet<usize> {
        let all = self.tops.iter().flat_map(|top| [top.memory, top.summary]);
        all.filter(|slot| index.is_extractive(*slot) && !self.sole_sources.contains(slot)).collect()
    }

    /// Raises each summary to the score of the best memory that it replaces. Returns for each
    /// raised summary which of the best `limit` memories it replaces, best first.
    pub(crate) fn roll_up(
        &self,
        scored: &mut Vec<ScoredSlot>,
        limit: usize,
    ) -> HashMap<usize, Vec<usize>> {
        if self.tops.is_empty() {
            return HashMap::new();
        }
        let mut replaced: Vec<(ScoredSlot, usize)> =
            scored.iter().filter_map(|entry| Some((*entry, self.top(entry.slot)?))).collect();
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (entry, top) in &replaced {
            let best_score = best.entry(*top).or_insert(0.0);
            *best_score = best_score.max(entry.score);
        }
        let limit_score =
            fusion::best(scored.clone(), limit).last().map_or(0.0, |entry| entry.score);
        let mut own_scores: HashMap<usize, f64> = HashMap::new();
        for summary in scored.iter_mut() {
            if let Some(best) = best.remove(&summary.slot) {
                own_scores.insert(summary.slot, summary.score);
                summary.score = summary.score.max(best);
            }
        }
        // A memory is not listed under a summary whose own text scores better.
        replaced.retain(|(entry, top)| {
            entry.score >= limit_score && own_scores.get(top).is_none_or(|own| entry.score > *own)
        });
        scored.extend(best.into_iter().map(|(slot, score)| ScoredSlot { slot, score }));
        let tops: HashMap<usize, usize> =
            replaced.iter().map(|(entry, top)| (entry.slot, *top)).collect();
        let mut summarised: HashMap<usize, Vec<usize>> = HashMap::new();
        let replaced = replaced.into_iter().map(|(entry, _)| entry).collect();
        for entry in fusion::best(replaced, limit) {
            summarised.entry(tops[&entry.slot]).or_default().push(entry.slot);
        }
        summarised
    }
}

/// The summaries above a memory up to the active one; empty if the mask does not admit the active
/// one.
fn chain(index: &Index, mask: &Mask, slot: usize) -> Vec<usize> {
    let above = |slot: &usize| index.summary(*slot).and_then(|seq| index.slot(seq));
    let chain: Vec<usize> = std::iter::successors(above(&slot), above).take(MAX_DEPTH).collect();
    let admitted = chain.last().is_some_and(|top| index.is_active(*top) && mask.admits(*top));
    if admitted { chain } else { Vec::new() }
}
