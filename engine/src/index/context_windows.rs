//! The neighbours of memories in the storage order of their group, as far as a mask admits them.
//!
//! Not here: the weight of neighbours (`ranking::late_interaction::context`).

use crate::index::{Index, Mask, slot_id};
use std::ops::Range;

/// The windows of neighbours around some seed memories, in sequence.
#[derive(Debug, Default)]
pub(crate) struct ContextWindows {
    pub slots: Vec<u32>,
    pub windows: Vec<Window>,
}

/// Consecutive admitted neighbours in one group, in storage order.
#[derive(Debug)]
pub(crate) struct Window {
    /// Their range in `ContextWindows::slots`.
    pub range: Range<usize>,
    /// The coherence of the group's order, 0 to 1.
    pub coherence: f64,
}

/// The order of one group under a mask, and the way to traverse it.
struct GroupOrder<'a> {
    mask: &'a Mask,
    traversal: Traversal<'a>,
}

enum Traversal<'a> {
    /// The list of its slots, or of those that the caller can see.
    List(&'a [u32]),
    /// The bits of the mask, if few memories of a large group are admitted.
    Bits(&'a Index, u32),
}

/// A position in the order: the index in the list, and the slot.
type Position = (usize, u32);

impl<'a> GroupOrder<'a> {
    fn new(index: &'a Index, mask: &'a Mask, group: u32) -> Self {
        let members = index.attributes.members_of(group);
        let traversal = match mask.sees_group(group) {
            true if members.all.list().len() > 4 * mask.count() => Traversal::Bits(index, group),
            true => Traversal::List(members.all.list()),
            // Of another group only its global memories are admitted.
            false => Traversal::List(members.global.list()),
        };
        Self { mask, traversal }
    }

    fn place(&self, slot: u32) -> Position {
        match self.traversal {
            Traversal::List(list) => (list.partition_point(|other| *other < slot), slot),
            Traversal::Bits(..) => (0, slot),
        }
    }

    fn before(&self, (at, slot): Position) -> Option<Position> {
        match self.traversal {
            Traversal::List(list) => (0..at)
                .rev()
                .map(|at| (at, list[at]))
                .find(|(_, slot)| self.mask.admits(*slot as usize)),
            Traversal::Bits(index, group) => {
                let mut before = self.mask.before(slot as usize);
                while let Some(found) = before.filter(|found| index.group(*found) != group) {
                    before = self.mask.before(found);
                }
                before.map(|found| (0, slot_id(found)))
            }
        }
    }

    fn after(&self, (at, slot): Position) -> Option<Position> {
        match self.traversal {
            Traversal::List(list) => (at + 1..list.len())
                .map(|at| (at, list[at]))
                .find(|(_, slot)| self.mask.admits(*slot as usize)),
            Traversal::Bits(index, group) => {
                let mut after = self.mask.after(slot as usize);
                while let Some(found) = after.filter(|found| index.group(*found) != group) {
                    after = self.mask.after(found);
                }
                after.map(|found| (0, slot_id(found)))
            }
        }
    }

    /// Traverses the whole order, newest first.
    fn backwards(&self) -> impl Iterator<Item = usize> {
        let end = match self.traversal {
            Traversal::List(list) => (list.len(), u32::MAX),
            Traversal::Bits(..) => (0, slot_id(self.mask.end())),
        };
        std::iter::successors(self.before(end), |place| self.before(*place))
            .map(|(_, slot)| slot as usize)
    }

    /// Adds the windows of `reach` neighbours around the sorted seeds.
    fn windows(
        &self,
        seeds: &[u32],
        radius: usize,
        coherence: f64,
        ContextWindows { slots, windows }: &mut ContextWindows,
    ) {
        let mut end: Option<Position> = None;
        for seed in seeds {
            let mut place = self.place(*seed);
            let covered = end.filter(|(_, last)| last >= seed);
            if covered.is_none() {
                let first = slots.len();
                slots.push(place.1);
                if !self.back(place, end, radius, slots) {
                    windows.push(Window { range: first..first, coherence });
                }
                slots[first..].reverse();
            }
            let Some(window) = windows.last_mut() else { continue };
            let behind =
                slots[window.range.start..].iter().rev().take_while(|slot| *slot > seed).count();
            place = covered.unwrap_or(place);
            for _ in behind..radius {
                let Some(after) = self.after(place) else { break };
                slots.push(after.1);
                place = after;
            }
            window.range.end = slots.len();
            end = Some(place);
        }
    }

    /// Adds up to `reach` neighbours before a position, but none before the end of the last window.
    /// Returns whether the two touch.
    fn back(
        &self,
        mut place: Position,
        end: Option<Position>,
        radius: usize,
        slots: &mut Vec<u32>,
    ) -> bool {
        for _ in 0..radius {
            let Some(before) = self.before(place) else { return false };
            if end.is_some_and(|(_, last)| last == before.1) {
                return true;
            }
            slots.push(before.1);
            place = before;
        }
        end.is_some_and(|(_, last)| self.before(place).is_some_and(|before| before.1 == last))
    }
}

impl Index {
    /// Returns the windows of `reach` admitted neighbours around these slots in the order of their
    /// groups.
    pub(crate) fn context_windows(
        &self,
        mask: &Mask,
        mut seeds: Vec<u32>,
        radius: usize,
    ) -> ContextWindows {
        let (print, mut around) = (mask.fingerprint(), ContextWindows::default());
        seeds.sort_unstable_by_key(|slot| (self.group(*slot as usize), *slot));
        for seeds in seeds.chunk_by(|a, b| self.group(*a as usize) == self.group(*b as usize)) {
            let group = self.group(seeds[0] as usize);
            let order = GroupOrder::new(self, mask, group);
            let coherence = self.coherence((group, print), order.backwards());
            order.windows(seeds, radius, coherence, &mut around);
        }
        around
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Filter;
    use crate::model::decay::Decay;
    use crate::model::entry::Entry;
    use crate::model::status::Status;
    use crate::model::visibility::Visibility;
    use crate::tests::fixture::T0;
    use loci_proto::memory::{Confidence, Scope};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn entry(seq: i64, group: usize, scope: Scope, status: Status) -> Entry {
        Entry { group: Some(["a", "b", "c"][group].to_owned()), scope, status, ..Entry::bare(seq) }
    }

    proptest! {
        /// Both ways of traversal give the windows of the whole order.
        #[test]
        fn both_traversals_give_the_windows_of_the_whole_order(
            stored in prop::collection::vec((0..3_usize, 0..4_u8, 0..8_u8), 1..300), chosen in prop::collection::vec(any::<usize>(), 1..12), radius in 1..5_usize,
        ) {
            let mut index = Index::default();
            for (seq, (group, scope, status)) in (0..).zip(&stored) {
                let scope = if *scope == 0 { Scope::Global } else { Scope::Group };
                let status = if *status == 0 { Status::Active } else { Status::Superseded };
                index.put(entry(seq, *group, scope, if stored.len() % 2 == 0 { Status::Active } else { status }));
            }
            let lowest = Confidence::new(0.0).expect("in bounds");
            let visibility = Visibility::of_group("a");
            let filter = Filter { visibility: &visibility, kind: None, scope: None, min_confidence: lowest, now: T0, decay: Decay::default(), compacted: false };
            let mask = index.mask(&filter);
            let slots: Vec<u32> = mask.slots().map(slot_id).collect();
            let seeds: BTreeSet<u32> = chosen.iter().filter_map(|at| slots.get(at % slots.len().max(1))).copied().collect();
            let around = index.context_windows(&mask, seeds.iter().copied().collect(), radius);
            let mut expected: Vec<Vec<u32>> = Vec::new();
            for group in 0..3 {
                let order: Vec<u32> = slots.iter().copied().filter(|slot| index.group(*slot as usize) == group).collect();
                let near = |at: usize| (at.saturating_sub(radius)..=at + radius).any(|other| order.get(other).is_some_and(|slot| seeds.contains(slot)));
                let mut last = None;
                for at in (0..order.len()).filter(|at| near(*at)) {
                    if last.is_some_and(|last| last + 1 == at) {
                        expected.last_mut().expect("is there").push(order[at]);
                    } else {
                        expected.push(vec![order[at]]);
                    }
                    last = Some(at);
                }
            }
            prop_assert!(around.windows.iter().flat_map(|window| window.range.clone()).eq(0..around.slots.len()));
            let mut found: Vec<Vec<u32>> = around.windows.into_iter().map(|window| around.slots[window.range].to_vec()).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
