//! The coherence of each group's storing order, cached between queries.
//!
//! The sums are updated incrementally: a store adds one vector to them. Not here: the formula (`ranking::late_interaction::coherence`).

use crate::model::encoding::{DIMENSIONS, dot};
use crate::ranking::late_interaction;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Newest memories of a group that are sampled; more would give the same result and cost more.
pub(crate) const REACH: usize = 2_048;
/// Cached groups; each takes some 11 KB.
const MAX_POOLED: usize = 256;
/// Changes above which recomputing the sums is faster than updating them, and no less exact.
const CHANGES: usize = 256;

/// The cache, by group number.
#[derive(Debug, Default)]
pub(crate) struct CoherenceCache(Mutex<HashMap<u32, CachedCoherence>>);

/// The sums of one group, as last used.
#[derive(Debug)]
struct CachedCoherence {
    /// Version of the index and fingerprint of the mask.
    key: (u64, u64),
    /// Its newest slots that have a vector.
    slots: Vec<u32>,
    sums: late_interaction::CoherenceStats,
}

impl CoherenceCache {
    /// Returns the coherence of a group's slots, 0 to 1; all have a vector. Nothing is computed if
    /// the key is that of the last query.
    pub(crate) fn of(
        &self,
        (group, key): (u32, (u64, u64)),
        slots: impl FnOnce() -> Vec<u32>,
        vector: impl Fn(u32) -> Vec<f32>,
    ) -> f64 {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&group).filter(|known| known.key == key) {
            return known.sums.coherence();
        }
        let slots = slots();
        if kept.len() >= MAX_POOLED && !kept.contains_key(&group) {
            kept.clear();
        }
        let known = kept.entry(group).or_insert_with(|| CachedCoherence {
            key,
            slots: Vec::new(),
            sums: late_interaction::CoherenceStats::new(DIMENSIONS),
        });
        known.key = key;
        if known.slots != slots {
            known.follow(slots, vector);
        }
        known.sums.coherence()
    }

    /// Drops the sums that contain a slot, since its vector has changed or was removed.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.0
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, known| known.slots.binary_search(&slot).is_err());
    }
}

impl CachedCoherence {
    fn follow(&mut self, slots: Vec<u32>, vector: impl Fn(u32) -> Vec<f32>) {
        let beside = |of: &[u32]| f64::from(dot(&vector(of[0]), &vector(of[1])));
        // The part that both orders share is the end of the old and the start of the new.
        let dropped = slots
            .first()
            .and_then(|first| self.slots.binary_search(first).ok())
            .unwrap_or(self.slots.len());
        let shared = self.slots.len() - dropped;
        let follows =
            shared > 0 && shared <= slots.len() && self.slots[dropped..] == slots[..shared];
        if follows && dropped + slots.len() - shared <= CHANGES {
            for at in 0..dropped {
                self.sums.remove(&vector(self.slots[at]), beside(&self.slots[at..at + 2]));
            }
            for at in shared..slots.len() {
                self.sums.add(&vector(slots[at]), beside(&slots[at - 1..=at]));
            }
        } else {
            self.sums = late_interaction::CoherenceStats::new(DIMENSIONS);
            let mut before: Option<Vec<f32>> = None;
            for slot in &slots {
                let own = vector(*slot);
                self.sums.add(&own, before.map_or(0.0, |before| f64::from(dot(&before, &own))));
                before = Some(own);
            }
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::leaning;
    use proptest::prelude::*;

    proptest! {
        /// The result does not depend on how the order was reached.
        #[test]
        fn a_cached_coherence_equals_a_recomputed_one(changes in prop::collection::vec((0..4_usize, 0..30_u32), 1..60)) {
            let vectors: Vec<_> = (0..2000).map(|number| leaning(number % 7, 100 + number % 50, 0.7)).collect();
            let vector = |slot: u32| vectors[slot as usize].as_slice().to_vec();
            let (kept, mut slots, mut next) = (CoherenceCache::default(), Vec::<u32>::new(), 0);
            for (turn, (kind, count)) in (0..).zip(changes) {
                match kind {
                    0 => drop(slots.drain(..(count as usize).min(slots.len()))),
                    1 if !slots.is_empty() => drop(slots.remove(count as usize % slots.len())),
                    _ => slots.extend(next..next + count),
                }
                next += count;
                let recomputed = CoherenceCache::default().of((0, (0, turn)), || slots.clone(), vector);
                prop_assert!((kept.of((0, (0, turn)), || slots.clone(), vector) - recomputed).abs() < 1e-9);
                prop_assert!((kept.of((0, (0, turn)), Vec::new, vector) - recomputed).abs() < 1e-9);
            }
        }
    }
}
