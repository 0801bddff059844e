//! `stats`: the store in numbers.

use crate::Reader;
use crate::db::{groups, numbers};
use crate::error::Result;
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
        numbers::count(&self.conn, group.as_deref(), &self.shared.settings().model, now)
    }

    /// The number of active memories.
    ///
    /// # Errors
    /// `Database`.
    pub fn active(&self) -> Result<u64> {
        numbers::active(&self.conn)
    }
}
