//! Context windows: the admitted neighbours of memories in the storage order of their group.
//!
//! Not here: the weight of neighbours (`ranking::late_interaction::context`).

use crate::index::{Index, Mask, OrderKey, slot_id};
use std::ops::Range;

/// The windows of neighbours around seed memories.
#[derive(Debug, Default)]
pub(crate) struct ContextWindows {
    /// The slots of all windows, one window after the other.
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

/// The storage order of one group under a mask.
struct GroupOrder<'a> {
    mask: &'a Mask,
    traversal: Traversal<'a>,
}

/// How the order is traversed.
enum Traversal<'a> {
    /// Over the list of the group's slots, or of those that the caller can see.
    List(&'a [u32]),
    /// Over the bits of the mask, if it admits few memories of a large group; the number is that of
    /// the group.
    Bits(&'a Index, u32),
}

/// A position in the order.
#[derive(Clone, Copy)]
struct Position {
    /// Index in the list; 0 if the bits of the mask are traversed.
    at: usize,
    slot: u32,
}

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

    fn position(&self, slot: u32) -> Position {
        let at = match self.traversal {
            Traversal::List(list) => list.partition_point(|other| *other < slot),
            Traversal::Bits(..) => 0,
        };
        Position { at, slot }
    }

    /// Returns the last admitted position before this one.
    fn before(&self, Position { at, slot }: Position) -> Option<Position> {
        match self.traversal {
            Traversal::List(list) => (0..at)
                .rev()
                .map(|at| Position { at, slot: list[at] })
                .find(|position| self.mask.admits(position.slot as usize)),
            Traversal::Bits(index, group) => {
                let mut before = self.mask.before(slot as usize);
                while let Some(other) = before.filter(|slot| index.group(*slot) != group) {
                    before = self.mask.before(other);
                }
                before.map(|slot| Position { at: 0, slot: slot_id(slot) })
            }
        }
    }

    /// Returns the first admitted position after this one.
    fn after(&self, Position { at, slot }: Position) -> Option<Position> {
        match self.traversal {
            Traversal::List(list) => (at + 1..list.len())
                .map(|at| Position { at, slot: list[at] })
                .find(|position| self.mask.admits(position.slot as usize)),
            Traversal::Bits(index, group) => {
                let mut after = self.mask.after(slot as usize);
                while let Some(other) = after.filter(|slot| index.group(*slot) != group) {
                    after = self.mask.after(other);
                }
                after.map(|slot| Position { at: 0, slot: slot_id(slot) })
            }
        }
    }

    /// Returns the slots of the whole order, newest first.
    fn newest_first(&self) -> impl Iterator<Item = usize> {
        let end = match self.traversal {
            Traversal::List(list) => Position { at: list.len(), slot: u32::MAX },
            Traversal::Bits(..) => Position { at: 0, slot: slot_id(self.mask.end()) },
        };
        std::iter::successors(self.before(end), |position| self.before(*position))
            .map(|position| position.slot as usize)
    }

    /// Appends the windows of `radius` neighbours on each side of the sorted seeds. Windows that
    /// touch are merged.
    fn push_windows(
        &self,
        seeds: &[u32],
        radius: usize,
        coherence: f64,
        ContextWindows { slots, windows }: &mut ContextWindows,
    ) {
        let mut end: Option<Position> = None;
        for seed in seeds {
            let mut position = self.position(*seed);
            let covered = end.filter(|end| end.slot >= *seed);
            if covered.is_none() {
                let first = slots.len();
                slots.push(position.slot);
                if !self.push_before(position, end, radius, slots) {
                    windows.push(Window { range: first..first, coherence });
                }
                slots[first..].reverse();
            }
            let Some(window) = windows.last_mut() else { continue };
            let count_after =
                slots[window.range.start..].iter().rev().take_while(|slot| *slot > seed).count();
            position = covered.unwrap_or(position);
            for _ in count_after..radius {
                let Some(after) = self.after(position) else { break };
                slots.push(after.slot);
                position = after;
            }
            window.range.end = slots.len();
            end = Some(position);
        }
    }

    /// Appends up to `radius` neighbours before a position, nearest first, but only as far as the
    /// end of the previous window. Returns whether the two windows touch.
    fn push_before(
        &self,
        mut position: Position,
        end: Option<Position>,
        radius: usize,
        slots: &mut Vec<u32>,
    ) -> bool {
        for _ in 0..radius {
            let Some(before) = self.before(position) else { return false };
            if end.is_some_and(|end| end.slot == before.slot) {
                return true;
            }
            slots.push(before.slot);
            position = before;
        }
        end.is_some_and(|end| self.before(position).is_some_and(|before| before.slot == end.slot))
    }
}

impl Index {
    /// Returns the windows of `radius` admitted neighbours on each side of the seeds, each in the
    /// storage order of its group.
    pub(crate) fn context_windows(
        &self,
        mask: &Mask,
        mut seeds: Vec<u32>,
        radius: usize,
    ) -> ContextWindows {
        let (fingerprint, mut windows) = (mask.fingerprint(), ContextWindows::default());
        seeds.sort_unstable_by_key(|slot| (self.group(*slot as usize), *slot));
        for seeds in seeds.chunk_by(|a, b| self.group(*a as usize) == self.group(*b as usize)) {
            let group = self.group(seeds[0] as usize);
            let order = GroupOrder::new(self, mask, group);
            let key = OrderKey { group, mask: fingerprint };
            let coherence = self.coherence(key, order.newest_first());
            order.push_windows(seeds, radius, coherence, &mut windows);
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Filter, Statuses};
    use loci_base::model::decay::Decay;
    use loci_base::model::entry::Entry;
    use loci_base::model::status::Status;
    use loci_base::model::visibility::{Isolation, Visibility};
    use loci_proto::memory::{Confidence, Scope};
    use loci_testkit::T0;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn entry(seq: i64, group: usize, scope: Scope, status: Status) -> Entry {
        Entry { group: Some(["a", "b", "c"][group].to_owned()), scope, status, ..Entry::bare(seq) }
    }

    proptest! {
        #[test]
        fn both_traversals_give_the_windows_of_the_whole_order(
            stored in prop::collection::vec((0..3_usize, 0..4_u8, 0..8_u8), 1..300),
            chosen in prop::collection::vec(any::<usize>(), 1..12),
            radius in 1..5_usize,
        ) {
            let mut index = Index::default();
            for (seq, (group, scope, status)) in (0..).zip(&stored) {
                let scope = if *scope == 0 { Scope::Global } else { Scope::Group };
                let status = if *status == 0 { Status::Active } else { Status::Superseded };
                index.put(entry(seq, *group, scope, if stored.len() % 2 == 0 { Status::Active } else { status }));
            }
            let lowest = Confidence::new(0.0).expect("the confidence is in bounds");
            let visibility = Visibility::of_group("a", Isolation::default());
            let filter = Filter { visibility: &visibility, kind: None, scope: None, min_confidence: lowest, dormant_below: None, now: T0, decay: Decay::default(), statuses: Statuses::Active };
            let mask = index.mask(&filter);
            let slots: Vec<u32> = mask.slots().map(slot_id).collect();
            let seeds: BTreeSet<u32> = chosen.iter().filter_map(|at| slots.get(at % slots.len().max(1))).copied().collect();
            let found = index.context_windows(&mask, seeds.iter().copied().collect(), radius);
            let mut expected: Vec<Vec<u32>> = Vec::new();
            for group in 0..3 {
                let order: Vec<u32> = slots.iter().copied().filter(|slot| index.group(*slot as usize) == group).collect();
                let near = |at: usize| (at.saturating_sub(radius)..=at + radius).any(|other| order.get(other).is_some_and(|slot| seeds.contains(slot)));
                let mut last = None;
                for at in (0..order.len()).filter(|at| near(*at)) {
                    if last.is_some_and(|last| last + 1 == at) {
                        expected.last_mut().expect("the window was pushed").push(order[at]);
                    } else {
                        expected.push(vec![order[at]]);
                    }
                    last = Some(at);
                }
            }
            prop_assert!(found.windows.iter().flat_map(|window| window.range.clone()).eq(0..found.slots.len()));
            let mut windows: Vec<Vec<u32>> = found.windows.into_iter().map(|window| found.slots[window.range].to_vec()).collect();
            windows.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(windows, expected);
        }
    }
}
