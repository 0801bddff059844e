//! The coherence of each group's storage order, cached between queries.
//!
//! The sums are updated incrementally: after a store, one vector is added. Not here: the formula
//! (`ranking::late_interaction::coherence`).

use crate::ranking::late_interaction;
use loci_base::model::encoding::{DIMENSIONS, dot};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Number of newest memories of a group that are sampled; more would give the same result and cost
/// more.
pub(crate) const MAX_SAMPLED: usize = 2_048;
/// Maximum number of cached groups; each takes some 11 KB.
const MAX_CACHED: usize = 256;
/// Maximum number of changes by which the sums are updated; beyond it, recomputing them is faster.
const MAX_CHANGES: usize = 256;

/// Identifies the memories of one group that one mask admits.
#[derive(Debug, Clone, Copy)]
pub struct OrderKey {
    /// Number of the group.
    pub group: u32,
    /// Fingerprint of the mask.
    pub mask: u64,
}

/// The cache, by group number.
#[derive(Debug, Default)]
pub(crate) struct CoherenceCache(Mutex<HashMap<u32, CachedCoherence>>);

/// The sums of one group at its last query.
#[derive(Debug)]
struct CachedCoherence {
    /// Version of the index.
    version: u64,
    /// Fingerprint of the mask.
    mask: u64,
    /// The sampled slots: its newest ones that have a vector.
    slots: Vec<u32>,
    stats: late_interaction::CoherenceStats,
}

impl CoherenceCache {
    /// Returns the coherence of a group's slots, 0 to 1; each slot must have a vector. Nothing is
    /// computed if `order` and `version` are those of the group's last query.
    pub fn of(
        &self,
        order: OrderKey,
        version: u64,
        slots: impl FnOnce() -> Vec<u32>,
        vector: impl Fn(u32) -> Vec<f32>,
    ) -> f64 {
        let OrderKey { group, mask } = order;
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current =
            |cached: &&CachedCoherence| (cached.version, cached.mask) == (version, mask);
        if let Some(cached) = cache.get(&group).filter(is_current) {
            return cached.stats.coherence();
        }
        let slots = slots();
        if cache.len() >= MAX_CACHED && !cache.contains_key(&group) {
            cache.clear();
        }
        let cached = cache.entry(group).or_insert_with(|| CachedCoherence {
            version,
            mask,
            slots: Vec::new(),
            stats: late_interaction::CoherenceStats::new(DIMENSIONS),
        });
        (cached.version, cached.mask) = (version, mask);
        if cached.slots != slots {
            cached.update(slots, vector);
        }
        cached.stats.coherence()
    }

    /// Drops the sums that contain a slot, since its vector has changed or was removed.
    pub fn forget(&mut self, slot: u32) {
        self.0
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, cached| cached.slots.binary_search(&slot).is_err());
    }
}

impl CachedCoherence {
    /// Brings the sums to the new slots, incrementally if few have changed.
    fn update(&mut self, slots: Vec<u32>, vector: impl Fn(u32) -> Vec<f32>) {
        let neighbour_cosine = |pair: &[u32]| f64::from(dot(&vector(pair[0]), &vector(pair[1])));
        // If memories were only appended and the oldest dropped, the end of the old list is the
        // start of the new one.
        let dropped = slots
            .first()
            .and_then(|first| self.slots.binary_search(first).ok())
            .unwrap_or(self.slots.len());
        let shared = self.slots.len() - dropped;
        let is_continuation =
            shared > 0 && shared <= slots.len() && self.slots[dropped..] == slots[..shared];
        if is_continuation && dropped + slots.len() - shared <= MAX_CHANGES {
            for at in 0..dropped {
                let cosine = neighbour_cosine(&self.slots[at..at + 2]);
                self.stats.remove(&vector(self.slots[at]), cosine);
            }
            for at in shared..slots.len() {
                self.stats.add(&vector(slots[at]), neighbour_cosine(&slots[at - 1..=at]));
            }
        } else {
            self.stats = late_interaction::CoherenceStats::new(DIMENSIONS);
            let mut before: Option<Vec<f32>> = None;
            for slot in &slots {
                let own = vector(*slot);
                self.stats.add(&own, before.map_or(0.0, |before| f64::from(dot(&before, &own))));
                before = Some(own);
            }
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_testkit::between_axes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cached_coherence_equals_a_recomputed_one(
            changes in prop::collection::vec((0..4_usize, 0..30_u32), 1..60),
        ) {
            let vectors: Vec<_> = (0..2000).map(|number| between_axes(number % 7, 100 + number % 50, 0.7)).collect();
            let vector = |slot: u32| vectors[slot as usize].as_slice().to_vec();
            let order = OrderKey { group: 0, mask: 0 };
            let (cache, mut slots, mut next) = (CoherenceCache::default(), Vec::<u32>::new(), 0);
            for (version, (change, count)) in (0..).zip(changes) {
                match change {
                    0 => drop(slots.drain(..(count as usize).min(slots.len()))),
                    1 if !slots.is_empty() => drop(slots.remove(count as usize % slots.len())),
                    _ => slots.extend(next..next + count),
                }
                next += count;
                let recomputed = CoherenceCache::default().of(order, version, || slots.clone(), vector);
                let updated = cache.of(order, version, || slots.clone(), vector);
                let cached = cache.of(order, version, Vec::new, vector);
                prop_assert!((updated - recomputed).abs() < 1e-9);
                prop_assert!((cached - recomputed).abs() < 1e-9);
            }
        }
    }
}
