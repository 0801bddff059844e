//! Answers that say the same are given once. Pure.
//!
//! Not here: the same fact at the moment of storing (`store`), and what makes two texts one fact (`duplicate`).

use crate::content::same_thing;
use crate::db::memories::Memory;
use crate::duplicate::same_fact;
use crate::embedding::dot;
use crate::index::Index;
use loci_proto::memory::MemoryType;

/// From this cosine on two texts may say the same.
const ALIKE: f32 = 0.97;
/// How many memories are looked at beyond those that are wanted, so that others can move up.
pub(crate) const SPARE: usize = 10;

/// For each place of a ranking the earlier places whose memories may say the same.
pub(crate) fn near(index: &Index, ranked: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let alike = |a: usize, b: usize| index.said(a).reads_as(index.said(b)) || cosine(index, a, b).is_some_and(|cosine| cosine >= ALIKE);
    let earlier = |place: usize| (0..place).filter(|before| alike(ranked[*before].0, ranked[place].0)).collect();
    (0..ranked.len()).map(earlier).collect()
}

/// Of two texts of one piece; a part of a longer one says nothing about the rest.
fn cosine(index: &Index, a: usize, b: usize) -> Option<f32> {
    let whole = |slot: usize| index.vector(slot, 0).filter(|_| index.pieces(slot) == 1);
    Some(dot(whole(a)?, whole(b)?))
}

/// Whether one of two memories that are near may be given for both: the same fact of the same day, and not an entity beside what is none.
pub(crate) fn same(a: &Memory, b: &Memory) -> bool {
    let entity = |memory: &Memory| memory.kind == MemoryType::Entity;
    let day = |memory: &Memory| memory.metadata.get("event_date").cloned();
    entity(a) == entity(b) && day(a) == day(b) && same_thing(&a.metadata, &b.metadata) && same_fact(&a.content, &b.content)
}
