//! The sources of a summary or fact: links to them, and their mean confidence.

use crate::db::memories;
use crate::db::rows::Row;
use crate::error::Result;
use crate::maintain::steps::Member;
use crate::transaction::change::Change;
use loci_proto::memory::Confidence;

/// Links a memory to a source that it was made from; the link is undone with the act.
pub(crate) fn add_source(change: &mut Change<'_>, memory: i64, source: &Member) -> Result<()> {
    memories::add_source(change.conn, memory, source.seq)?;
    change.record_created(Row::Source(memory, source.seq));
    Ok(())
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
