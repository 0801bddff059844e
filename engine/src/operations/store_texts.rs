//! The sentences in the reply of `store`: notes and conflicts. Not here: when they apply (`store`).

use crate::flags::safe_name;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use loci_proto::group::Group;
use loci_proto::memory::{Category, MemoryType, Trust};
use loci_proto::requests::relate::MemoryPreview;

/// How to replace a similar memory.
const SUPERSEDE_HINT: &str =
    "If one of similar is out of date, store this text again with supersedes: its id";

/// Says that global scope was not followed.
pub(crate) fn narrowed_note(group: &Group, is_bound: bool) -> String {
    let reason = if is_bound { "is all that this token may use" } else { "is isolated" };
    format!("Stored with scope group: {} {reason}", safe_name(&group.name))
}

/// Says how to replace a similar memory, if there is one. Events do not replace each other.
pub(crate) fn supersede_note(kind: MemoryType, similar: &[MemoryPreview]) -> Option<String> {
    (!similar.is_empty() && kind != MemoryType::Episodic).then(|| SUPERSEDE_HINT.to_owned())
}

/// Says that a rule whose scope was not given is given in every project.
pub(crate) fn everywhere_note() -> String {
    "Given in every project, as its scope is global; scope: group keeps a rule in this one"
        .to_owned()
}

/// Says that metadata do not decide what is given unasked.
pub(crate) fn unasked_note() -> String {
    "metadata.unasked was left out: a person says it, with loci edit --unasked".to_owned()
}

/// The category of a known memory that a store was merged with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KnownCategory {
    /// It keeps its own.
    Kept(Category),
    /// It has that of the store now.
    Given(Category),
}

impl KnownCategory {
    /// Says which it is.
    pub(crate) fn note(self) -> String {
        match self {
            Self::Kept(category) => format!("Its category stays {category}: loci edit changes it"),
            Self::Given(category) => format!("Its category is {category} now"),
        }
    }
}

/// Says which date a relative day was taken for.
pub(crate) fn dated_note(words: &str, date: &str) -> String {
    format!("event_date is {date}, because the text says {words}")
}

/// Returns several notes as one.
pub(crate) fn join_notes(notes: [Option<String>; 5]) -> Option<String> {
    let given: Vec<String> = notes.into_iter().flatten().collect();
    (!given.is_empty()).then(|| given.join(". "))
}

/// Says that a memory is held back, and that what it replaces is too; of a conflict the reply says more.
pub(crate) fn held_note(provenance: &Provenance, is_alone: bool, replaces: bool) -> Option<String> {
    let also = if replaces { "; what it replaces is no longer in force" } else { "" };
    (is_alone && provenance.is_gated()).then(|| {
        format!(
            "Held back from briefs and hooks until the user confirms it (loci list --held){also}"
        )
    })
}

/// Describes the memory that a store could not change, and the next step.
pub(crate) fn conflict_text(with: &Memory) -> String {
    let why = match with.provenance.trust {
        Trust::Person => "a person stored or confirmed it",
        _ => "it is trusted more than this text",
    };
    format!(
        "{} was not changed, because {why}; this text was stored beside it and is held back. Ask the user which one is right: loci forget, or loci confirm and loci supersede",
        with.id
    )
}
