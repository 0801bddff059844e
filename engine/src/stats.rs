//! `stats`: the store in numbers.

use crate::Reader;
use crate::db::memories::Status;
use crate::db::{groups, numbers};
use crate::error::Result;
use crate::inspect::FLAGGED;
use crate::time::Timestamp;
use loci_proto::group::Group;
use loci_proto::stats::{StatsReply, StatsRequest};

impl Reader {
    /// Counts everything, or what came from one group.
    ///
    /// # Errors
    /// `Database`.
    pub fn stats(&self, request: &StatsRequest, own: &Group, now: Timestamp) -> Result<StatsReply> {
        let group = match &request.group {
            Some(name) => Some(groups::resolve(&self.conn, name, Some(own))?.id),
            None => None,
        };
        let counted = numbers::count(&self.conn, group.as_deref(), &self.shared.settings().model, now)?;
        let decay = self.shared.settings().decay;
        let index = self.shared.index();
        let faded = |slot: &usize| {
            let entry = index.entry(*slot);
            entry.status == Status::Active
                && group.as_ref().is_none_or(|group| entry.group.as_ref() == Some(group))
                && decay.at(now, entry.kind, entry.anchor).get() < FLAGGED
        };
        Ok(StatsReply { flagged: (0..index.len()).filter(faded).count() as u64, ..counted })
    }

    /// The number of active memories.
    ///
    /// # Errors
    /// `Database`.
    pub fn active(&self) -> Result<u64> {
        numbers::active(&self.conn)
    }
}
