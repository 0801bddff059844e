//! `doctor`: compares the counts of the index, which `stats` reports, with those of the database.
//!
//! Not here: the comparison of the memories themselves (`doctor`).

use crate::db::{export_rows, stats};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::index::ConfidenceBound;
use crate::model::counts::MemoryCounts;
use crate::model::decay::Decay;
use crate::model::time::Timestamp;
use loci_proto::memory::Confidence;

/// Comparisons before a difference counts as a fault: the index may lag behind the database for a
/// moment.
const MAX_ATTEMPTS: usize = 5;

impl Reader {
    /// Returns the first difference between the counts of the index and those of the database, if
    /// any. With damaged rows nothing is compared: the index leaves them out, the database counts
    /// them.
    pub(crate) fn differing_counts(&self) -> Result<Option<String>> {
        let mut fault = None;
        for _ in 0..MAX_ATTEMPTS {
            if !self.shared.damaged.all().is_empty() {
                return Ok(None);
            }
            self.shared.wait_for_index_update();
            fault = self.compare_counts()?;
            if fault.is_none() {
                break;
            }
        }
        Ok(fault)
    }

    /// Locks the index only while it counts.
    fn compare_counts(&self) -> Result<Option<String>> {
        let conn = &export_rows::snapshot(&self.conn)?;
        let any = ConfidenceBound {
            minimum: Confidence::new(0.0).unwrap_or(Confidence::FULL),
            spares_pinned: false,
            now: Timestamp(0),
            decay: Decay::default(),
        };
        let stored = stats::by_group(conn)?;
        let total: u64 = stored.values().map(|counts| counts.total).sum();
        let index = self.shared.index();
        let counted = |groups: Option<&[String]>| index.counts(groups, &any).memories;
        if counted(None).total != total {
            let counted = counted(None).total;
            return Ok(Some(format!("the index counts {counted} memories, the database {total}")));
        }
        let difference = |(group, stored): (&Option<String>, &MemoryCounts)| {
            let group = group.as_ref()?;
            let counted = counted(Some(std::slice::from_ref(group)));
            (counted != *stored).then(|| {
                let (counted, stored) = (describe(&counted), describe(stored));
                format!("project {group} has {counted} by the index, and {stored} by the database")
            })
        };
        Ok(stored.iter().find_map(difference))
    }
}

fn describe(counts: &MemoryCounts) -> String {
    let MemoryCounts { total, active, forgotten, compacted, candidates, .. } = counts;
    let MemoryCounts { rejected, by_type, by_scope, .. } = counts;
    format!(
        "{total} memories ({active} active, {forgotten} forgotten, {compacted} compacted, {candidates} candidates, {rejected} rejected; \
         {by_type:?} by type, {by_scope:?} by scope)"
    )
}
