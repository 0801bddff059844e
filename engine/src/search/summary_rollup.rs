//! A summary speaks for the memories that it stands for: it is worth what the best of them is, and the answer names those for which it
//! is given. Pure.
//!
//! An extractive summary only repeats them, so it takes no part in ranking beside them: its many words would outdo every short text, and
//! its place in storing order means nothing. What an agent wrote in its own words is ranked, too. The memories themselves rank below.
//! Not here: how a memory scores (`soft`, `rank`).

use crate::index::{Index, Mask};
use std::collections::{HashMap, HashSet};

/// What the score of a memory counts that a summary stands for.
const COMPACTED: f64 = 0.5;
/// Summaries of summaries are this deep at the most.
const DEEPEST: usize = 4;

/// What a memory's score counts.
pub(crate) fn weight(index: &Index, slot: usize) -> f64 {
    if index.is_compacted(slot) { COMPACTED } else { 1.0 }
}

/// For admitted memories the summary in use that stands for each in the end.
#[derive(Debug, Default)]
pub(crate) struct Above {
    /// By slot, in storing order.
    tops: Vec<(usize, usize)>,
    /// Summaries above memories that are not admitted: what those say, they alone say here.
    alone: HashSet<usize>,
}

impl Above {
    /// Looks up the summaries above compacted memories, where the mask admits them.
    pub(crate) fn new(index: &Index, mask: &Mask) -> Self {
        let (mut tops, mut alone) = (Vec::new(), HashSet::new());
        // Memories of one summary stand together: one look serves them all.
        let mut last: Option<(i64, Vec<usize>)> = None;
        for slot in index.compacted_slots() {
            let Some(seq) = index.summary(slot) else { continue };
            let chain = match last.take() {
                Some((known, chain)) if known == seq => chain,
                _ => chain(index, mask, slot),
            };
            match chain.last() {
                Some(top) if mask.admits(slot) => tops.push((slot, *top)),
                _ => alone.extend(&chain),
            }
            last = Some((seq, chain));
        }
        Self { tops, alone }
    }

    fn top(&self, slot: usize) -> Option<usize> {
        self.tops.binary_search_by_key(&slot, |(below, _)| *below).ok().map(|at| self.tops[at].1)
    }

    /// What only repeats others: extractive summaries whose memories are all here, in use or below another.
    pub(crate) fn repeats(&self, index: &Index) -> HashSet<usize> {
        let all = self.tops.iter().flat_map(|(below, top)| [*below, *top]);
        all.filter(|slot| index.is_extractive(*slot) && !self.alone.contains(slot)).collect()
    }

    /// Gives each summary the score of the best memory that it stands for, unless its own is better. For each that is given one, those of
    /// the best `limit` memories that it stands for, best first.
    pub(crate) fn speak(
        &self,
        scored: &mut Vec<(usize, f64)>,
        limit: usize,
    ) -> HashMap<usize, Vec<usize>> {
        if self.tops.is_empty() {
            return HashMap::new();
        }
        let below =
            scored.iter().filter_map(|(slot, score)| Some((*slot, *score, self.top(*slot)?)));
        let mut below: Vec<(usize, f64, usize)> = below.collect();
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (_, score, top) in &below {
            let most = best.entry(*top).or_insert(0.0);
            *most = most.max(*score);
        }
        let of_all = crate::ranking::fusion::best(scored.clone(), limit);
        let least = of_all.last().map_or(0.0, |(_, score)| *score);
        let mut better: HashMap<usize, f64> = HashMap::new();
        for (slot, own) in scored.iter_mut() {
            if let Some(best) = best.remove(slot) {
                better.insert(*slot, *own);
                *own = own.max(best);
            }
        }
        // A summary's own words may say it better than what it stands for.
        below.retain(|(_, score, top)| {
            *score >= least && better.get(top).is_none_or(|own| score > own)
        });
        scored.extend(best);
        let mut spoken: HashMap<usize, Vec<usize>> = HashMap::new();
        let tops: HashMap<usize, usize> =
            below.iter().map(|(slot, _, top)| (*slot, *top)).collect();
        for (slot, _) in crate::ranking::fusion::best(
            below.iter().map(|(slot, score, _)| (*slot, *score)).collect(),
            limit,
        ) {
            spoken.entry(tops[&slot]).or_default().push(slot);
        }
        spoken
    }
}

/// The summaries above a memory up to the one in use; none where that one is not admitted.
fn chain(index: &Index, mask: &Mask, slot: usize) -> Vec<usize> {
    let next = |slot: &usize| index.summary(*slot).and_then(|seq| index.slot(seq));
    let chain: Vec<usize> = std::iter::successors(next(&slot), next).take(DEEPEST).collect();
    let in_use = chain.last().is_some_and(|top| index.is_active(*top) && mask.admits(*top));
    if in_use { chain } else { Vec::new() }
}
