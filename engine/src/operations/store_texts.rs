//! The sentences in the reply of `store`: notes and conflicts. Not here: when they apply (`store`).

use crate::model::memory::Memory;
use loci_proto::group::Group;
use loci_proto::memory::{MemoryType, Trust};
use loci_proto::requests::relate::MemoryPreview;

/// How to replace a similar memory.
const SUPERSEDE_HINT: &str =
    "If one of similar is out of date, store this text again with supersedes: its id";

/// Says that global scope was not followed, else how to replace a similar memory.
pub(crate) fn note_text(
    is_narrowed: bool,
    group: &Group,
    kind: MemoryType,
    similar: &[MemoryPreview],
) -> Option<String> {
    if is_narrowed {
        return Some(format!("Stored with scope group: {} is isolated", group.name));
    }
    // Events do not replace each other.
    (!similar.is_empty() && kind != MemoryType::Episodic).then(|| SUPERSEDE_HINT.to_owned())
}

/// Describes the memory that a store could not change, and the next step.
pub(crate) fn conflict_text(with: &Memory) -> String {
    let why = match with.provenance.trust {
        Trust::Person => "a person stored or confirmed it",
        _ => "it is trusted more than this text",
    };
    format!(
        "{} was not changed, because {why}; this text was stored beside it. Ask the user which one is right: loci confirm, loci forget",
        with.id
    )
}
