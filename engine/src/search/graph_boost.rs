//! What is linked to what a question names, or to what answers it best, is lifted: one hop. Pure.
//!
//! "Where does Anna's manager live?" names Anna, who reports to Piotr; a memory that names Piotr is lifted, though neither its words nor
//! their meaning have anything to do with Anna. What is lifted is a share of the best score, so that every ranking knows the step. Not
//! here: what is linked (`links`, `relate`), how it is kept (`index::graph`).

use crate::index::{Index, Mask, slot_id};
use std::collections::HashMap;

/// What a memory gets, as a share of the best score, that is linked as nearly as can be. docs/retrieval.md says what chose each of these.
const LIFT: f64 = 0.4;
/// Strength of a link to a memory that names an entity which the question names.
const NAMES: f64 = 0.5;
/// To an entity that is related to one which the question names.
const RELATED: f64 = 0.5;
/// To a memory that names such an entity.
const NAMES_RELATED: f64 = 1.0;
/// To a memory that names what one of the best answers names, or is.
const BESIDE_BEST: f64 = 0.5;
/// How many of the best answers count.
const BEST: usize = 3;
/// Of the memories that name an entity so many of the newest are lifted.
const MOST: usize = 1_000;

/// Lifts what is linked. What was not among the scored is not put there: it has neither a word nor a meaning in common with the question.
/// What each gets, by slot.
pub(crate) fn lift(
    index: &Index,
    mask: &Mask,
    named: &[usize],
    scored: &mut [(usize, f64)],
) -> HashMap<usize, f64> {
    let lifts = lifts(index, mask, named, scored);
    for (slot, score) in scored.iter_mut() {
        *score += lifts.get(slot).copied().unwrap_or(0.0);
    }
    lifts
}

/// What each linked memory gets, by slot. Empty where nothing is linked.
fn lifts(
    index: &Index,
    mask: &Mask,
    named: &[usize],
    scored: &[(usize, f64)],
) -> HashMap<usize, f64> {
    let mut lifts = Lifts { index, mask, by_slot: HashMap::new() };
    if index.graph().is_empty() {
        return lifts.by_slot;
    }
    for entity in named.iter().map(|slot| index.seq(*slot)) {
        lifts.naming(entity, NAMES);
        for other in index.graph().related(entity) {
            if lifts.set(*other, RELATED) {
                lifts.naming(*other, NAMES_RELATED);
            }
        }
    }
    let best = best(scored);
    let highest = best.first().map_or(0.0, |(_, score)| *score);
    for (slot, score) in best.iter().filter(|(_, score)| *score > 0.0) {
        let seq = index.seq(*slot);
        for entity in std::iter::once(&seq).chain(index.graph().named_in(seq)) {
            if index.slot(*entity).is_some_and(|slot| mask.admits(slot)) {
                lifts.naming_but(*entity, BESIDE_BEST * score / highest, seq);
            }
        }
    }
    lifts.by_slot.into_iter().map(|(slot, strength)| (slot, LIFT * highest * strength)).collect()
}

/// What is linked to what a question names, by slot.
pub(crate) fn linked(index: &Index, mask: &Mask, named: &[usize]) -> Vec<u32> {
    lifts(index, mask, named, &[]).into_keys().map(slot_id).collect()
}

struct Lifts<'a> {
    index: &'a Index,
    mask: &'a Mask,
    by_slot: HashMap<usize, f64>,
}

impl Lifts<'_> {
    /// Sets a strength, unless a greater one is known; false for what the mask does not admit.
    fn set(&mut self, seq: i64, strength: f64) -> bool {
        let Some(slot) = self.index.slot(seq).filter(|slot| self.mask.admits(*slot)) else {
            return false;
        };
        let known = self.by_slot.entry(slot).or_insert(strength);
        *known = known.max(strength);
        true
    }

    fn naming(&mut self, entity: i64, strength: f64) {
        self.naming_but(entity, strength, entity);
    }

    /// What names an entity, but for one memory: that by which the entity was found.
    fn naming_but(&mut self, entity: i64, strength: f64, but: i64) {
        let graph = self.index.graph();
        for memory in graph.naming(entity).iter().rev().take(MOST).filter(|memory| **memory != but)
        {
            self.set(*memory, strength);
        }
    }
}

/// The best few, best first; of equals the newer.
fn best(scored: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut best: Vec<(usize, f64)> = Vec::with_capacity(BEST + 1);
    for of in scored {
        let at =
            best.partition_point(|known| known.1.total_cmp(&of.1).then(known.0.cmp(&of.0)).is_gt());
        if at < BEST {
            best.insert(at, *of);
            best.truncate(BEST);
        }
    }
    best
}
