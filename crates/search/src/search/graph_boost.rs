//! Graph boost: raises memories that are one hop away from an entity that the query names, or from
//! the best results.
//!
//! "Where does Anna's manager live?" names Anna, who reports to Piotr. A memory that mentions Piotr
//! is raised, although neither its words nor its vector relate to Anna. The boost is a share of the
//! best score, so it works with every ranking. Not here: which memories mention which entities
//! (`transaction::mentions`), relations (`operations::relate`), their storage in memory
//! (`index::graph`).

use crate::index::{Index, Mask, slot_id};
use crate::ranking::fusion;
use crate::ranking::fusion::ScoredSlot;
use std::collections::HashMap;

/// Boost at full strength, as a share of the best score. docs/retrieval.md has the measurement
/// behind each of these constants.
const MAX_BOOST: f64 = 0.4;
/// Strength for a memory that mentions an entity named by the query.
const MENTIONS_NAMED: f64 = 0.5;
/// Strength for an entity that is related to a named one.
const RELATED_TO_NAMED: f64 = 0.5;
/// Strength for a memory that mentions such a related entity.
const MENTIONS_RELATED: f64 = 1.0;
/// Strength for a memory that mentions an entity which one of the best results mentions or is.
const SHARES_ENTITY_WITH_BEST: f64 = 0.15;
/// Score of an entity whose relation answers the query, as a share of the best score.
const ANSWERS: f64 = 1.02;
/// Number of best results whose entities count.
const BEST_RESULTS: usize = 3;
/// Number of memories per entity that are raised, the newest first.
const MAX_MENTIONS: usize = 1_000;

/// The entities that a query is about.
#[derive(Debug, Clone, Copy)]
pub struct QueryEntities<'a> {
    /// Slots of the entities that it names.
    pub named: &'a [usize],
    /// Slots of those that have a relation which it asks for.
    pub answering: &'a [usize],
}

/// Adds the boost to the scores and returns it by slot. A memory that was not scored is not added:
/// it has neither a keyword nor a similar vector.
pub fn apply(
    index: &Index,
    mask: &Mask,
    entities: QueryEntities<'_>,
    scored: &mut [ScoredSlot],
) -> HashMap<usize, f64> {
    let mut boosts = boosts(index, mask, entities.named, scored);
    for entry in scored.iter_mut() {
        entry.score += boosts.get(&entry.slot).copied().unwrap_or(0.0);
    }
    let best = scored.iter().map(|entry| entry.score).fold(0.0, f64::max);
    for entry in scored.iter_mut().filter(|entry| entities.answering.contains(&entry.slot)) {
        *boosts.entry(entry.slot).or_default() += ANSWERS * best - entry.score;
        entry.score = ANSWERS * best;
    }
    boosts
}

/// The boost of each linked memory, by slot.
fn boosts(
    index: &Index,
    mask: &Mask,
    named: &[usize],
    scored: &[ScoredSlot],
) -> HashMap<usize, f64> {
    let mut boosts = Boosts { index, mask, strengths: HashMap::new() };
    if index.graph().is_empty() {
        return boosts.strengths;
    }
    for entity in named.iter().map(|slot| index.seq(*slot)) {
        boosts.raise_mentions(entity, MENTIONS_NAMED);
        for other in index.graph().related(entity) {
            if boosts.raise(*other, RELATED_TO_NAMED) {
                boosts.raise_mentions(*other, MENTIONS_RELATED);
            }
        }
    }
    let best = fusion::top(scored, BEST_RESULTS);
    let highest = best.first().map_or(0.0, |entry| entry.score);
    for ScoredSlot { slot, score } in best.into_iter().filter(|entry| entry.score > 0.0) {
        let seq = index.seq(slot);
        for entity in std::iter::once(&seq).chain(index.graph().entities_mentioned_in(seq)) {
            if index.slot(*entity).is_some_and(|slot| mask.admits(slot)) {
                boosts.raise_mentions_except(
                    *entity,
                    SHARES_ENTITY_WITH_BEST * score / highest,
                    seq,
                );
            }
        }
    }
    boosts
        .strengths
        .into_iter()
        .map(|(slot, strength)| (slot, MAX_BOOST * highest * strength))
        .collect()
}

/// The slots that are linked to an entity named by the query, in no order.
pub fn linked(index: &Index, mask: &Mask, named: &[usize]) -> Vec<u32> {
    boosts(index, mask, named, &[]).into_keys().map(slot_id).collect()
}

/// The strength of the strongest link of each memory.
struct Boosts<'a> {
    index: &'a Index,
    mask: &'a Mask,
    /// Strength by slot, 0 to 1.
    strengths: HashMap<usize, f64>,
}

impl Boosts<'_> {
    /// Raises the strength of a memory to at least `strength`. Returns false if the mask does not
    /// admit the memory.
    fn raise(&mut self, seq: i64, strength: f64) -> bool {
        let Some(slot) = self.index.slot(seq).filter(|slot| self.mask.admits(*slot)) else {
            return false;
        };
        let current = self.strengths.entry(slot).or_insert(strength);
        *current = current.max(strength);
        true
    }

    fn raise_mentions(&mut self, entity: i64, strength: f64) {
        self.raise_mentions_except(entity, strength, entity);
    }

    /// Raises the strength of the memories that mention an entity, except that of the memory
    /// `except`.
    fn raise_mentions_except(&mut self, entity: i64, strength: f64, except: i64) {
        let graph = self.index.graph();
        for memory in graph
            .memories_mentioning(entity)
            .iter()
            .rev()
            .take(MAX_MENTIONS)
            .filter(|memory| **memory != except)
        {
            self.raise(*memory, strength);
        }
    }
}
