//! Answers that say the same are given once. Pure.
//!
//! Not here: the same fact at the moment of storing (`store`), and what makes two texts one fact (`duplicate`).

use crate::duplicate::same_fact;
use crate::index::{Index, slot_id};
use crate::model::content::same_thing;
use crate::model::memory::Memory;
use loci_proto::memory::MemoryType;

/// From this cosine on two texts may say the same.
const ALIKE: f32 = 0.97;
/// A cosine that is nearly known is off by less, unless a few numbers are by far the largest: then both answers are given, which is no harm.
const NEARLY: f32 = 0.05;
/// How many memories are looked at beyond those that are wanted, so that others can move up.
pub(crate) const SPARE: usize = 10;

/// For each place of a ranking the earlier places whose memories may say the same.
pub(crate) fn near(index: &Index, ranked: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let slots: Vec<u32> = ranked.iter().map(|(slot, _)| slot_id(*slot)).collect();
    let earlier = |place: usize| {
        let alike = alike(index, slots[place], &slots[..place]);
        let same_text = |before: usize| {
            index.text_features(ranked[before].0).same_text(index.text_features(ranked[place].0))
        };
        (0..place).filter(|before| alike[*before] || same_text(*before)).collect()
    };
    (0..ranked.len()).map(earlier).collect()
}

/// Which of some texts of one piece are near another such; a part of a longer one says nothing about the rest.
fn alike(index: &Index, one: u32, others: &[u32]) -> Vec<bool> {
    let whole = |slot: u32| {
        index.vector(slot as usize, 0).filter(|_| index.chunk_count(slot as usize) == 1)
    };
    let Some(asked) = whole(one).map(|row| row.stepped()) else { return vec![false; others.len()] };
    // Few are near at all: the rest need not be looked at closely.
    let nearly =
        index.approx_cosines(&asked, others).into_iter().map(|cosine| cosine >= ALIKE - NEARLY);
    let exactly = |slot: u32| index.cosines(&asked, &[slot])[0];
    nearly
        .zip(others)
        .map(|(near, slot)| near && whole(*slot).is_some() && exactly(*slot) >= ALIKE)
        .collect()
}

/// Whether one of two memories that are near may be given for both: the same fact of the same day, and not an entity beside what is none.
pub(crate) fn same(a: &Memory, b: &Memory) -> bool {
    let entity = |memory: &Memory| memory.kind == MemoryType::Entity;
    let day = |memory: &Memory| memory.metadata.get("event_date").cloned();
    entity(a) == entity(b)
        && day(a) == day(b)
        && same_thing(&a.metadata, &b.metadata)
        && same_fact(&a.content, &b.content)
}
