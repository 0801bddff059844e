//! Groups results that state the same fact.
//!
//! Not here: which results are compared (`similar_results`), duplicates when a memory is stored (`operations::store`), the comparison of two texts
//! (`duplicate`).

use loci_base::duplicate::{compare_facts, is_same_wording};
use loci_base::model::content::{contradicts, same_thing};
use loci_base::model::memory::Memory;
use loci_base::model::validity;
use loci_proto::memory::{MemoryType, Trust};
use std::cmp::Ordering;

/// Number of results fetched beyond the limit, to replace those that are collapsed.
pub const SPARE: usize = 10;

/// Which of two similar memories can stand for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representative {
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// Returns which of two similar memories can stand for both: it says all that the other says and is trusted as much; the first if both can.
/// `None` if they state different facts, or if the less trusted one says more.
pub fn representative(first: &Memory, second: &Memory) -> Option<Representative> {
    let says = compare(first, second)?;
    match (says, standing(first).cmp(&standing(second))) {
        (Ordering::Greater | Ordering::Equal, Ordering::Greater | Ordering::Equal) => {
            Some(Representative::First)
        }
        (Ordering::Less | Ordering::Equal, Ordering::Less | Ordering::Equal) => {
            Some(Representative::Second)
        }
        _ => None,
    }
}

/// How far a memory is trusted: one that is trusted less hides none that is trusted more.
pub fn standing(memory: &Memory) -> (bool, Trust) {
    (!memory.provenance.is_gated(), memory.provenance.trust)
}

/// Which of two memories says more of the same fact, of the same event date, both or neither of them an entity. Of procedures only one wording is the
/// same: each letter of a command counts.
fn compare(a: &Memory, b: &Memory) -> Option<Ordering> {
    let is_a = |kind: MemoryType| [a, b].map(|memory| memory.kind == kind);
    let event_date = |memory: &Memory| memory.metadata.get("event_date").cloned();
    let is_entity = is_a(MemoryType::Entity);
    if is_entity[0] != is_entity[1] || event_date(a) != event_date(b) || !is_same_matter(a, b) {
        None
    } else if is_a(MemoryType::Procedural).contains(&true) {
        is_same_wording(&a.content, &b.content).then_some(Ordering::Equal)
    } else {
        compare_facts(&a.content, &b.content)
    }
}

/// Returns whether the metadata name no other thing, value or time.
fn is_same_matter(a: &Memory, b: &Memory) -> bool {
    same_thing(&a.metadata, &b.metadata)
        && !contradicts(&a.metadata, &b.metadata)
        && validity::is_same(&a.metadata, &b.metadata)
}
