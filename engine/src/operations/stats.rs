//! `stats`: counts of the store.

use crate::db::memories;
use crate::db::{ALL_SEQS, groups, stats};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::operations::inspect::FADED_THRESHOLD;
use loci_proto::group::Group;
use loci_proto::requests::stats::{StatsReply, StatsRequest};

impl Reader {
    /// Counts the whole store, or the memories that one group stored.
    ///
    /// # Errors
    /// `Database`.
    pub fn stats(&self, request: &StatsRequest, own: &Group, now: Timestamp) -> Result<StatsReply> {
        let group = match &request.group {
            Some(name) => Some(groups::resolve(&self.conn, name, Some(own))?.id),
            None => None,
        };
        let settings = self.shared.settings();
        let set = &self.shared.sets().active.name;
        let counts = stats::count(&self.conn, group.as_deref(), set, now)?;
        let is_flagged = |entry: &Entry| {
            entry.status == Status::Active
                && settings.decay.at(now, entry.kind, entry.anchor).get() < FADED_THRESHOLD
        };
        let is_in_group = |entry: &Entry| group.is_none() || entry.group == group;
        let mut flagged = 0;
        let mut count =
            |entry: &Entry| flagged += u64::from(is_in_group(entry) && is_flagged(entry));
        match self.shared.warm() {
            Some(index) => index.entries().for_each(|entry| count(&entry)),
            None => memories::entries(&self.conn, &ALL_SEQS, |entry| {
                count(&entry);
                Ok(())
            })?,
        }
        Ok(StatsReply { flagged, ..counts })
    }

    /// Returns the number of active memories.
    ///
    /// # Errors
    /// `Database`.
    pub fn active(&self) -> Result<u64> {
        stats::active(&self.conn)
    }
}
