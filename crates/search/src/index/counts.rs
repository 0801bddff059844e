//! How many memories of each kind the index has: from the bitmaps that every change keeps up to
//! date, so that `stats` does not read the memories.
//!
//! Not here: the same counts from the database (`db::stats`).

use crate::index::Index;
use crate::index::bitmap::slots_of;
use crate::index::mask::ConfidenceBound;
use loci_base::model::counts::MemoryCounts;
use loci_proto::memory::{MemoryType, Scope};

/// The counts of the whole index or of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The memories, by status.
    pub memories: MemoryCounts,
    /// Active memories that have expired.
    pub expired: u64,
    /// Active memories below the minimum confidence.
    pub faded: u64,
    /// Active memories without a vector.
    pub without_vector: u64,
    /// Relations from a counted active memory to an active one.
    pub relations: u64,
    /// The first and the last day on which an active memory was stored, in days since 0001-01-01.
    pub days: Option<(i32, i32)>,
}

impl Index {
    /// Counts all memories, or those of these groups; `""` is no group.
    pub fn counts(&self, groups: Option<&[String]>, minimum: &ConfidenceBound) -> Counts {
        let selected = self.selected(groups);
        let words = |bits: &dyn Fn(usize) -> u64| -> Vec<u64> {
            selected.iter().enumerate().map(|(number, word)| word & bits(number)).collect()
        };
        let attributes = &self.attributes;
        let active = words(&|number| attributes.active.word(number));
        let count_active = |bits: &dyn Fn(usize) -> u64| -> u64 {
            active
                .iter()
                .enumerate()
                .map(|(number, word)| u64::from((word & bits(number)).count_ones()))
                .sum()
        };
        let of_type = |kind: &MemoryType| count_active(&|at| attributes.of_kind(*kind).word(at));
        let of_scope = |scope: &Scope| {
            count_active(&|at| match scope {
                Scope::Global => attributes.global.word(at),
                Scope::Group => !attributes.global.word(at),
            })
        };
        let memories = MemoryCounts {
            total: ones(&selected),
            active: ones(&active),
            forgotten: ones(&words(&|number| attributes.forgotten.word(number))),
            compacted: ones(&words(&|number| attributes.compacted.word(number))),
            candidates: ones(&words(&|number| attributes.candidate.word(number))),
            rejected: ones(&words(&|number| attributes.rejected.word(number))),
            by_type: std::array::from_fn(|at| of_type(&MemoryType::ALL[at])),
            by_scope: std::array::from_fn(|at| of_scope(&Scope::ALL[at])),
        };
        let mut confident = active.clone();
        attributes.clear_low_confidence(minimum, &mut confident);
        let expired = |slot: &usize| attributes.expires_at(*slot) <= minimum.now.0;
        let expiring = words(&|at| attributes.active.word(at) & attributes.expiring.word(at));
        Counts {
            memories,
            expired: slots(&expiring).filter(expired).count() as u64,
            faded: memories.active - ones(&confident),
            without_vector: slots(&active).filter(|slot| self.vector(*slot, 0).is_none()).count()
                as u64,
            relations: self.count_relations(&active),
            days: slots(&active).fold(None, |days, slot| {
                let day = attributes.created_day(slot);
                let (first, last) = days.unwrap_or((day, day));
                Some((first.min(day), last.max(day)))
            }),
        }
    }

    /// Returns the slots of all memories, or of those of these groups, as bits.
    fn selected(&self, groups: Option<&[String]>) -> Vec<u64> {
        let mut selected = vec![0; self.slot_count().div_ceil(64)];
        let number_of = |group: &String| match group.as_str() {
            "" => self.attributes.no_group(),
            name => self.attributes.group(name),
        };
        match groups {
            None => selected.fill(u64::MAX),
            Some(groups) => {
                for number in groups.iter().filter_map(number_of) {
                    self.attributes.members_of(number).all.mark(&mut selected);
                }
            }
        }
        for (number, word) in selected.iter_mut().enumerate() {
            *word &= self.attributes.present.word(number);
        }
        selected
    }

    fn count_relations(&self, active: &[u64]) -> u64 {
        let slot_of = |seq: i64| self.slot(seq);
        let is_counted = |seq: i64| {
            slot_of(seq).is_some_and(|slot| {
                active.get(slot / 64).is_some_and(|w| w >> (slot % 64) & 1 == 1)
            })
        };
        let is_active = |seq: &&i64| slot_of(**seq).is_some_and(|slot| self.is_active(slot));
        self.graph()
            .relations()
            .filter(|(subject, _)| is_counted(*subject))
            .map(|(_, objects)| objects.iter().filter(is_active).count() as u64)
            .sum()
    }
}

fn ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

fn slots(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(number, word)| slots_of(number, *word))
}

impl Index {
    #[doc(hidden)]
    /// Spoils a bitmap: tests of the engine check that `doctor` finds it.
    pub fn miscount(&mut self, slot: usize) {
        self.attributes.forgotten.set(slot, true);
    }
}
