//! Erases memories that were forgotten long ago, if that is configured (`maintenance.purge_forgotten_days`).
//!
//! As `loci forget --hard`: nothing of them can be recovered, and a tombstone keeps imports and bridges
//! from bringing them back. Not here: what erasing does (`operations::forget`), memories that a
//! cleanup forgot (`cleanup`).

use crate::db::clusters::{self, Forgotten};
use crate::db::memories;
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::maintain::steps::Purge;
use crate::model::time::{Timestamp, days};
use crate::operations::forget::erase;
use crate::transaction::change::CallContext;
use loci_proto::requests::maintenance::StepReport;
use rusqlite::Connection;

/// Maximum memories that one step erases: a step is one transaction.
const MAX_PER_STEP: usize = 32;

/// Returns the steps that are due, by project and scope, in storage order.
pub(crate) fn due(conn: &Connection, shared: &Shared, now: Timestamp) -> Result<Vec<Purge>> {
    let Some(before) = forgotten_before(shared, now) else { return Ok(Vec::new()) };
    let forgotten = clusters::forgotten_at_or_before(conn, before)?;
    let of_group = |group: &[Forgotten]| -> Vec<Purge> {
        let to_step = |members: &[Forgotten]| Purge {
            group: members[0].group.clone(),
            scope: members[0].scope,
            members: members.iter().map(|member| (member.seq, member.id.clone())).collect(),
        };
        group.chunks(MAX_PER_STEP).map(to_step).collect()
    };
    let groups = forgotten.chunk_by(|a, b| (&a.group, a.scope) == (&b.group, b.scope));
    Ok(groups.flat_map(of_group).collect())
}

/// Returns the time before which memories must have been forgotten; `None` if none are purged.
fn forgotten_before(shared: &Shared, now: Timestamp) -> Option<Timestamp> {
    let age = shared.settings().rules.purge_forgotten_days;
    (age > 0.0).then(|| now.plus(-days(age)))
}

impl Writer {
    /// Erases the memories of a step that are still forgotten, and have been for long enough.
    ///
    /// # Errors
    /// `Database`; nothing is erased then.
    pub fn purge_forgotten(&mut self, call: &CallContext, step: &Purge) -> Result<StepReport> {
        let report = self.run_idempotent(call, |change| {
            let mut report = StepReport { members: Vec::new(), ..step.to_reply() };
            let Some(before) = forgotten_before(change.shared, call.now) else { return Ok(report) };
            for (seq, id) in &step.members {
                if clusters::was_forgotten(change.conn, *seq, before)?
                    && let Some(memory) = memories::by_seq(change.conn, *seq)?
                {
                    erase(change, &memory)?;
                    report.members.push(id.clone());
                }
            }
            Ok(report)
        })?;
        if !report.members.is_empty() {
            self.scrub()?;
        }
        Ok(report)
    }
}
