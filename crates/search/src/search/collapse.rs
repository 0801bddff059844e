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
/// neither of them an entity. Procedures have commands, of which each letter counts: of two only one
/// wording is the same.
pub fn is_same_fact(a: &Memory, b: &Memory) -> bool {
    let is_entity = |memory: &Memory| memory.kind == MemoryType::Entity;
    let is_procedure = |memory: &Memory| memory.kind == MemoryType::Procedural;
    let is_same: fn(&str, &str) -> bool =
        if is_procedure(a) || is_procedure(b) { is_same_wording } else { same_fact };
    let event_date = |memory: &Memory| memory.metadata.get("event_date").cloned();
    is_entity(a) == is_entity(b)
        && event_date(a) == event_date(b)
        && same_thing(&a.metadata, &b.metadata)
        && is_same(&a.content, &b.content)
}
