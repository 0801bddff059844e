//! The sources of a summary or fact: links to them, their mean confidence, and the trust that is
//! inherited from them.

use crate::db::memories;
use crate::db::rows::Row;
use crate::error::Result;
use crate::flags::Flags;
use crate::maintain::steps::Member;
use crate::model::provenance::Provenance;
use crate::transaction::change::Change;
use loci_proto::memory::{Confidence, Origin, Trust};

/// Links a memory to a source that it was made from; the link is undone with the act.
pub(crate) fn add_source(change: &mut Change<'_>, memory: i64, source: &Member) -> Result<()> {
    memories::add_source(change.conn, memory, source.seq)?;
    change.record_created(Row::Source(memory, source.seq));
    Ok(())
}

/// Returns the provenance of a memory that the caller makes from these: its trust is the lowest of
/// all, and it has all flags.
pub(crate) fn provenance(change: &Change<'_>, flags: Flags, seqs: &[i64]) -> Result<Provenance> {
    let mut provenance = Provenance::of(&change.call.actor, flags);
    // Maintenance adds no text of its own, so only the sources count.
    if change.call.actor.origin == Origin::Maintenance {
        provenance.trust = Trust::Person;
    }
    for seq in seqs {
        if let Some(memory) = memories::by_seq(change.conn, *seq)? {
            provenance.inherit(&memory.provenance);
        }
    }
    Ok(provenance)
}

/// Returns the mean of the current confidences of these memories.
pub(crate) fn mean_confidence(change: &Change<'_>, seqs: &[i64]) -> Result<Confidence> {
    let mut sum = 0.0;
    for seq in seqs {
        if let Some(memory) = memories::by_seq(change.conn, *seq)? {
            sum += change
                .shared
                .settings()
                .decay
                .at(change.call.now, memory.kind, memory.anchor)
                .get();
        }
    }
    Ok(Confidence::new(sum / seqs.len().max(1) as f64).unwrap_or(Confidence::FULL))
}
