//! Groups results that state the same fact.
//!
//! Not here: which results are compared (`similar_results`), duplicates when a memory is stored (`operations::store`), the comparison of two texts
//! (`duplicate`).

use loci_base::duplicate::{is_same_wording, same_fact};
use loci_base::model::content::same_thing;
use loci_base::model::memory::Memory;
use loci_proto::memory::MemoryType;

/// Number of results fetched beyond the limit, to replace those that are collapsed.
pub const SPARE: usize = 10;

/// Whether one of two similar memories can represent both: same fact, same event date, and both or
/// neither of them an entity. Of procedures only one wording is the same: each letter of a command counts.
pub fn is_same_fact(a: &Memory, b: &Memory) -> bool {
    let is_a = |kind: MemoryType| [a, b].map(|memory| memory.kind == kind);
    let is_same: fn(&str, &str) -> bool =
        if is_a(MemoryType::Procedural).contains(&true) { is_same_wording } else { same_fact };
    let event_date = |memory: &Memory| memory.metadata.get("event_date").cloned();
    let is_entity = is_a(MemoryType::Entity);
    is_entity[0] == is_entity[1]
        && event_date(a) == event_date(b)
        && same_thing(&a.metadata, &b.metadata)
        && is_same(&a.content, &b.content)
}
