//! Decides the provenance of a memory that an import merges with a line.

use crate::db::log;
use crate::error::Result;
use crate::model::candidate::is_of_candidate;
use crate::model::status::Status;
use crate::transfer::import::{Importer, Source};
use crate::transfer::record::MemoryLine;
use loci_proto::memory::{MemoryId, Origin, Trust};

/// What becomes of a memory that is in the file and in this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It stays as it is here.
    Kept,
    /// It is merged with the line.
    Merged,
}

impl Importer<'_, '_> {
    /// Sets the provenance of a merged memory: that of this store, unless the file changes the text
    /// or the metadata. Keeps the memory as it is if a person stored or confirmed it, and a candidate if
    /// an agent imports the file.
    pub(super) fn decide_provenance(
        &mut self,
        local: Option<&MemoryLine>,
        merged: &mut MemoryLine,
    ) -> Outcome {
        if let Some(local) = local {
            merged.set_provenance_of(local);
            if merged != local && self.is_agent() && is_unconfirmed(local) {
                self.reply.unchanged += 1;
                return Outcome::Kept;
            }
            if merged != local && local.trust.as_deref() == Some(Trust::Person.as_str()) {
                self.kept_for_trust += 1;
                self.reply.unchanged += 1;
                return Outcome::Kept;
            }
        }
        let is_changed = |local: &MemoryLine| {
            merged.content != local.content || merged.metadata != local.metadata
        };
        if local.is_none_or(is_changed) {
            merged.set_imported();
            self.reply.flagged += usize::from(!merged.flags.is_empty());
        }
        Outcome::Merged
    }

    /// Returns whether an agent or a script imports a file.
    pub(super) fn is_claim(&self) -> bool {
        self.mode.source == Source::File && self.change.call.actor.origin != Origin::Person
    }

    /// Returns whether a person has hidden, brought back, edited or pinned a memory.
    pub(super) fn is_decided_by_person(&self, id: &MemoryId) -> Result<bool> {
        let (conn, id) = (self.change.conn, id.as_str());
        Ok(log::is_status_of_person(conn, id)? || log::is_changed_by_person(conn, id)?)
    }

    fn is_agent(&self) -> bool {
        self.change.call.actor.origin == Origin::Agent
    }

    /// Sets the provenance of a memory that is merged with a line of the person's own file: that of the version whose text is in
    /// force, and of one text the higher, so that two stores that import from each other have the same.
    pub(super) fn trust_own_text(
        &mut self,
        local: Option<&MemoryLine>,
        merged: &mut MemoryLine,
        line: &MemoryLine,
    ) {
        let says_the_same = |one: &MemoryLine, other: &MemoryLine| {
            one.content == other.content && one.metadata == other.metadata
        };
        if !says_the_same(merged, line)
            && let Some(local) = local
        {
            return merged.set_provenance_of(local);
        }
        merged.set_imported();
        merged.believe(line);
        match local.filter(|local| says_the_same(local, line)) {
            Some(local) if merged.provenance_rank() <= local.provenance_rank() => {
                merged.set_provenance_of(local);
            }
            _ => self.reply.flagged += usize::from(!merged.flags.is_empty()),
        }
    }
}

/// Returns whether a memory is a candidate, or was one when it was forgotten or rejected.
fn is_unconfirmed(local: &MemoryLine) -> bool {
    local.status == Status::Candidate.as_str() || is_of_candidate(local.forgotten_reason.as_deref())
}

/// Returns whether a line of the person's own file may change a memory: what a person stored or
/// confirmed is only changed by a line that claims the same.
pub(super) fn may_change(local: Option<&MemoryLine>, line: &MemoryLine) -> bool {
    let is_person = |line: &MemoryLine| line.trust.as_deref() == Some(Trust::Person.as_str());
    line.has_trust() && (is_person(line) || !local.is_some_and(is_person))
}
