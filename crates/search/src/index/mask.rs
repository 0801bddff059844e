//! Which memories a search may find: a filter, and the mask of bits that it is compiled to.
//!
//! Not here: the attributes that a filter tests (`attributes`).

use crate::index::attributes::{Attributes, BLOCK};
use crate::index::bitmap::{clear_bit, has_bit, slots_of};
use loci_base::model::decay::{Anchor, Decay};
use loci_base::model::entry::Entry;
use loci_base::model::status::Status;
use loci_base::model::time::{DAY, Timestamp};
use loci_base::model::visibility::{Others, Visibility};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::collections::HashSet;

/// Which memories a search may find.
#[derive(Debug, Clone)]
pub struct Filter<'a> {
    /// Which groups' memories the call can see.
    pub visibility: &'a Visibility,
    /// Only this kind.
    pub kind: Option<MemoryType>,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// The smallest current confidence, 0 to 1.
    pub min_confidence: Confidence,
    /// Leaves out memories below this, except pinned ones.
    pub dormant_below: Option<Confidence>,
    /// The time at which confidence and expiry are computed.
    pub now: Timestamp,
    /// How confidence ages.
    pub decay: Decay,
    /// Which statuses are admitted.
    pub statuses: Statuses,
}

/// The memories that a filter admits, by their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statuses {
    /// Active ones.
    Active,
    /// What a recall finds: active ones, those that a summary replaces, and rejected attempts.
    Recall,
    /// What a recall finds, without rejected attempts.
    Confirmed,
    /// Those that no person has confirmed.
    Candidate,
    /// Rejected attempts.
    Rejected,
}

impl Statuses {
    /// Returns whether memories of a status are admitted.
    pub fn admits(self, status: Status) -> bool {
        match self {
            Self::Active => status == Status::Active,
            Self::Recall => {
                matches!(status, Status::Active | Status::Compacted | Status::Rejected)
            }
            Self::Confirmed => matches!(status, Status::Active | Status::Compacted),
            Self::Candidate => status == Status::Candidate,
            Self::Rejected => status == Status::Rejected,
        }
    }
}

/// The minimum confidence that a memory must have at a time.
#[derive(Debug, Clone, Copy)]
pub struct ConfidenceBound {
    /// The smallest current confidence, 0 to 1.
    pub minimum: Confidence,
    /// Pinned memories have no minimum.
    pub spares_pinned: bool,
    /// The time at which confidence is computed.
    pub now: Timestamp,
    /// How confidence ages.
    pub decay: Decay,
}

impl Filter<'_> {
    fn confidence_bound(&self) -> ConfidenceBound {
        let Self { min_confidence: minimum, now, decay, .. } = *self;
        ConfidenceBound { minimum, spares_pinned: false, now, decay }
    }

    fn dormancy_bound(&self) -> Option<ConfidenceBound> {
        let bound = self.confidence_bound();
        self.dormant_below.map(|minimum| ConfidenceBound { minimum, spares_pinned: true, ..bound })
    }

    /// Returns whether the filter admits one memory. The mask must give the same result.
    pub fn admits(&self, entry: &Entry) -> bool {
        self.statuses.admits(entry.status)
            && self.visibility.admits(entry.audience())
            && self.kind.is_none_or(|kind| kind == entry.kind)
            && self.scope.is_none_or(|scope| scope == entry.scope)
            && entry.expires_at.is_none_or(|at| at > self.now)
            && self.decay.at(self.now, entry.kind, entry.anchor) >= self.min_confidence
            && self.dormant_below.is_none_or(|below| {
                !self.decay.is_dormant(self.now, below, (entry.kind, entry.anchor))
            })
    }
}

/// One bit for each slot of the index: set if the filter admits the memory.
#[derive(Debug)]
pub struct Mask {
    words: Vec<u64>,
    /// Number of admitted slots before each word.
    counts_before: Vec<u32>,
    count: usize,
    /// The groups whose group-scoped memories the filter admits.
    groups: Vec<u32>,
}

impl Mask {
    fn new(words: Vec<u64>, groups: Vec<u32>) -> Self {
        let mut count = 0;
        let mut counts_before = Vec::with_capacity(words.len());
        for word in &words {
            counts_before.push(count);
            count += word.count_ones();
        }
        Self { words, counts_before, count: count as usize, groups }
    }

    /// Returns a copy without some slots.
    #[must_use]
    pub fn without(&self, slots: &HashSet<usize>) -> Self {
        let mut words = self.words.clone();
        for slot in slots {
            clear_bit(&mut words, *slot);
        }
        Self::new(words, self.groups.clone())
    }

    /// Keeps only the slots for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut words = std::mem::take(&mut self.words);
        for (number, word) in words.iter_mut().enumerate() {
            for slot in slots_of(number, *word).filter(|slot| !keep(*slot)) {
                *word &= !(1 << (slot % 64));
            }
        }
        *self = Self::new(words, std::mem::take(&mut self.groups));
    }

    /// Returns whether the filter admits the memory of a slot.
    pub fn admits(&self, slot: usize) -> bool {
        has_bit(&self.words, slot)
    }

    /// Returns the number of admitted slots.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of admitted slots before an admitted one.
    pub fn rank(&self, slot: usize) -> usize {
        let below = self.words[slot / 64] & ((1 << (slot % 64)) - 1);
        (self.counts_before[slot / 64] + below.count_ones()) as usize
    }

    /// Returns the admitted slots, in storage order.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(number, word)| slots_of(number, *word))
    }

    /// Returns the bits, 64 slots to a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the last admitted slot before this one.
    pub fn before(&self, slot: usize) -> Option<usize> {
        let mut number = slot / 64;
        let mut word = self.words.get(number).map_or(0, |word| word & ((1 << (slot % 64)) - 1));
        while word == 0 {
            number = number.min(self.words.len()).checked_sub(1)?;
            word = self.words[number];
        }
        Some(number * 64 + 63 - word.leading_zeros() as usize)
    }

    /// Returns the first admitted slot after this one.
    pub fn after(&self, slot: usize) -> Option<usize> {
        let mut number = slot / 64;
        let mut word = self.words.get(number)? & (u64::MAX << (slot % 64)) & !(1 << (slot % 64));
        while word == 0 {
            number += 1;
            word = *self.words.get(number)?;
        }
        Some(number * 64 + word.trailing_zeros() as usize)
    }

    /// Returns a 64-bit hash of the bits, to tell masks apart.
    pub fn fingerprint(&self) -> u64 {
        self.words.iter().fold(self.count as u64, |hash, word| {
            (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }

    /// Returns a slot number greater than that of every slot.
    pub fn end(&self) -> usize {
        self.words.len() * 64
    }

    /// Returns whether the filter admits group-scoped memories of a group, by its number.
    pub(crate) fn sees_group(&self, group: u32) -> bool {
        self.groups.contains(&group)
    }
}

impl Attributes {
    /// Compiles a filter to bits.
    pub fn mask(&self, filter: &Filter<'_>) -> Mask {
        let mut words = vec![0_u64; self.len().div_ceil(64)];
        // `Visibility::admits` as bits: the members of the visible groups here, the global memories
        // of others below.
        let groups: Vec<u32> =
            filter.visibility.groups().iter().filter_map(|group| self.group(group)).collect();
        for group in &groups {
            self.members_of(*group).all.mark(&mut words);
        }
        let others = self.global_of_others(filter.visibility);
        let of_kind = filter.kind.map(|kind| self.of_kind(kind));
        for (number, word) in words.iter_mut().enumerate() {
            let global = self.global.word(number);
            let status = self.status_word(filter.statuses, number);
            let scope = match filter.scope {
                None => u64::MAX,
                Some(Scope::Global) => global,
                Some(Scope::Group) => !global,
            };
            let visible = others.as_ref().map_or(global, |others| others[number]);
            *word = (*word | visible)
                & status
                & scope
                & of_kind.map_or(u64::MAX, |bits| bits.word(number));
            for slot in slots_of(number, *word & self.expiring.word(number)) {
                if self.expires_at(slot) <= filter.now.0 {
                    *word &= !(1 << (slot % 64));
                }
            }
        }
        self.clear_low_confidence(&filter.confidence_bound(), &mut words);
        if let Some(bound) = filter.dormancy_bound() {
            self.clear_low_confidence(&bound, &mut words);
        }
        Mask::new(words, groups)
    }

    /// Returns 64 bits, as [`Statuses::admits`].
    fn status_word(&self, statuses: Statuses, number: usize) -> u64 {
        match statuses {
            Statuses::Active => self.active.word(number),
            Statuses::Recall => {
                self.active.word(number) | self.compacted.word(number) | self.rejected.word(number)
            }
            Statuses::Confirmed => self.active.word(number) | self.compacted.word(number),
            Statuses::Candidate => self.candidate.word(number),
            Statuses::Rejected => self.rejected.word(number),
        }
    }

    /// Returns the bits of the visible global memories of other groups; `None` if all are visible.
    fn global_of_others(&self, visibility: &Visibility) -> Option<Vec<u64>> {
        let words = self.len().div_ceil(64);
        let mut bits = vec![0_u64; words];
        match visibility.others() {
            Others::All => return None,
            Others::OnlyOutside(outside) => {
                for group in [self.group(outside), self.no_group()].into_iter().flatten() {
                    self.members_of(group).global.mark(&mut bits);
                }
            }
            Others::Except(hidden) => {
                for group in hidden.iter().filter_map(|group| self.group(group)) {
                    self.members_of(group).global.mark(&mut bits);
                }
                for (number, word) in bits.iter_mut().enumerate() {
                    *word = self.global.word(number) & !*word;
                }
            }
        }
        Some(bits)
    }

    /// Clears the bits of memories below the minimum confidence. A block is skipped if its lower
    /// bound reaches the minimum.
    pub(crate) fn clear_low_confidence(&self, bound: &ConfidenceBound, words: &mut [u64]) {
        let ConfidenceBound { minimum, spares_pinned, now, decay } = bound;
        let minimum = minimum.get();
        if minimum <= 0.0 {
            return;
        }
        let fastest = decay.episodic_factor.min(decay.semantic_factor);
        let interval = decay.interval_days * DAY as f64 / decay.highest_speed();
        let mut limits = AgeLimits::default();
        for (block, words) in words.chunks_mut(BLOCK / 64).enumerate() {
            let floor = self.floors()[block];
            let lowest = floor.confidence * fastest.powf(now.since(floor.at) as f64 / interval);
            // The margin is larger than any rounding error.
            if lowest >= minimum * (1.0 + 1e-9) {
                continue;
            }
            for (number, word) in words.iter_mut().enumerate() {
                for slot in slots_of(block * BLOCK / 64 + number, *word) {
                    let (kind, anchor) = (self.kind(slot), self.anchor(slot));
                    let is_spared = *spares_pinned && anchor.pinned;
                    if !is_spared && !limits.admits(bound, kind, anchor) {
                        *word &= !(1 << (slot % 64));
                    }
                }
            }
        }
    }
}

/// Age in milliseconds at which a confidence decays to the minimum: for each decay factor the last
/// confidence and its age limit, since most memories have the same confidence.
#[derive(Debug, Default)]
struct AgeLimits([Option<(f64, f64)>; 2]);

impl AgeLimits {
    fn admits(&mut self, bound: &ConfidenceBound, kind: MemoryType, anchor: Anchor) -> bool {
        let ConfidenceBound { minimum, now, decay, .. } = bound;
        let by_exact_rule = || decay.at(*now, kind, anchor) >= *minimum;
        if anchor.pinned {
            return by_exact_rule();
        }
        let is_episodic = kind == MemoryType::Episodic;
        let factor = if is_episodic { decay.episodic_factor } else { decay.semantic_factor };
        let (age, confidence) = (now.since(anchor.at) as f64, anchor.confidence.get());
        let cached = &mut self.0[usize::from(is_episodic)];
        let limit = match *cached {
            Some((of, limit)) if of.to_bits() == confidence.to_bits() => limit,
            _ => {
                let limit = decay.interval_days * DAY as f64 * (minimum.get() / confidence).ln()
                    / factor.ln();
                *cached = Some((confidence, limit));
                limit
            }
        };
        let limit = limit / decay.speed(anchor);
        // Within a minute of the limit, or if it is not a number, the exact rule decides.
        if (age - limit).abs() > 60_000.0 { age < limit } else { by_exact_rule() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use loci_base::model::importance::Importance;
    use loci_base::model::names::EntityNames;
    use loci_base::model::visibility::Isolation;
    use loci_testkit::T0;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    prop_compose! {
        fn entry()(
            kind in prop::sample::select(MemoryType::ALL),
            group in prop::sample::select(vec![Some("a"), Some("b"), None]),
            global in any::<bool>(),
            status in prop::sample::select(Status::ALL.to_vec()),
            confidence in prop::sample::select(vec![0.0, 0.1, 0.3, 1.0]),
            age in 0..500_i64,
            pinned in any::<bool>(),
            accesses in 0..40_u16,
            importance in prop::option::of(prop::sample::select(vec![0.7, 1.0, 1.5])),
            expires_in in prop::option::of(-2..3_i64),
        ) -> Entry {
            let confidence = Confidence::new(confidence).expect("the confidence is in bounds");
            let importance = importance.and_then(|number: f64| Importance::try_from(number).ok());
            let anchor = Anchor { pinned, accesses, importance, ..Anchor::new(confidence, Timestamp(T0.0 - age * DAY)) };
            let scope = if global { Scope::Global } else { Scope::Group };
            let expires_at = expires_in.map(|days| T0.plus(days * DAY));
            Entry {
                seq: 0, branch: None, error: None, kind, group: group.map(str::to_owned), scope, status, anchor, expires_at, names: EntityNames::default(), content: String::new(), questions: String::new(),
                event_day: None, created_day: 0, summary: None, extractive: false,
            }
        }
    }

    proptest! {
        /// Also after changes and removals.
        #[test]
        fn the_mask_admits_the_memories_that_the_filter_admits(
            entries in prop::collection::vec((0..700_i64, entry()), 1..900),
            removed in prop::collection::vec(0..700_i64, 0..20),
            kind in prop::option::of(prop::sample::select(MemoryType::ALL)),
            scope in prop::option::of(prop::sample::select(Scope::ALL)),
            minimum in prop::sample::select(vec![0.0, 0.1, 0.5]),
            dormant in prop::option::of(prop::sample::select(vec![0.01, 0.2])),
            statuses in prop::sample::select(vec![Statuses::Active, Statuses::Recall, Statuses::Confirmed, Statuses::Candidate, Statuses::Rejected]),
            (dampening, weight) in prop::sample::select(vec![(0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (2.0, 0.5)]),
            two_groups in any::<bool>(),
            isolated in prop::sample::select(vec![&[][..], &["a"], &["b"], &["a", "b"]]),
            outside in prop::sample::select(vec!["b", "default"]),
        ) {
            let mut index = Index::default();
            let mut stored: BTreeMap<i64, Entry> = BTreeMap::new();
            for (seq, entry) in entries {
                let entry = Entry { seq, ..entry };
                index.put(entry.clone());
                stored.insert(seq, entry);
            }
            for seq in removed {
                index.remove(seq);
                stored.remove(&seq);
            }
            let decay = Decay { adaptive_dampening: dampening, importance: weight, ..Decay::default() };
            let min_confidence = Confidence::new(minimum).expect("the confidence is in bounds");
            let dormant_below = dormant.and_then(|number| Confidence::new(number).ok());
            let isolation = Isolation::new(isolated.iter().map(|group| (*group).to_owned()).collect(), outside);
            let visibility = if two_groups { Visibility::of_groups("a", "b", isolation) } else { Visibility::of_group("a", isolation) };
            let filter = Filter { visibility: &visibility, kind, scope, min_confidence, dormant_below, now: T0, decay, statuses };
            let mask = index.mask(&filter);
            let admitted: BTreeSet<i64> = mask.slots().map(|slot| index.seq(slot)).collect();
            let expected = stored.values().filter(|entry| filter.admits(entry)).map(|entry| entry.seq).collect();
            prop_assert_eq!(&admitted, &expected);
            prop_assert_eq!(mask.count(), expected.len());
            let slots: Vec<usize> = mask.slots().collect();
            for (rank, slot) in slots.iter().enumerate() {
                prop_assert_eq!(mask.rank(*slot), rank);
                prop_assert_eq!(mask.before(*slot), rank.checked_sub(1).map(|before| slots[before]));
                prop_assert_eq!(mask.after(*slot), slots.get(rank + 1).copied());
            }
        }
    }
}
