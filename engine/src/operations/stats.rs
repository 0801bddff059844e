//! `stats`: counts of the store.
//!
//! The counts come from the index, which keeps them as bitmaps: reading every memory would cost in
//! proportion to the store. While the index is loaded, the database is counted. `doctor` compares
//! both (`doctor_counts`).

use crate::db::memories;
use crate::db::{ALL_SEQS, groups, stats};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::index::{ConfidenceBound, Counts};
use crate::model::counts::MemoryCounts;
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::operations::inspect::FADED_THRESHOLD;
use loci_proto::group::Group;
use loci_proto::memory::{Confidence, MemoryType, Scope};
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
        let group = group.as_deref();
        let faded = ConfidenceBound {
            minimum: Confidence::new(FADED_THRESHOLD).unwrap_or(Confidence::FULL),
            now,
            decay: self.shared.settings().decay,
        };
        // The index is not locked while the database is read.
        match self.shared.warm().map(|index| index.counts(group, &faded)) {
            Some(counts) => self.stats_of(counts, group),
            None => self.stats_of_database(group, now),
        }
    }

    fn stats_of(&self, counts: Counts, group: Option<&str>) -> Result<StatsReply> {
        let (db_size_bytes, times) = stats::size_and_times(&self.conn, group, counts.days)?;
        let Counts { memories, expired, faded, without_vector, relations, .. } = counts;
        let MemoryCounts { total, active, forgotten, compacted, by_type, by_scope } = memories;
        let named = |name: &str, count: &u64| (name.to_owned(), *count);
        Ok(StatsReply {
            total_memories: total,
            active_memories: active,
            superseded_memories: total - active,
            by_type: MemoryType::ALL
                .iter()
                .zip(&by_type)
                .map(|(kind, count)| named(kind.as_str(), count))
                .collect(),
            by_scope: Scope::ALL
                .iter()
                .zip(&by_scope)
                .map(|(scope, count)| named(scope.as_str(), count))
                .collect(),
            entity_relations: relations,
            db_size_bytes,
            oldest_memory: times.map(|(oldest, _)| oldest.iso()),
            newest_memory: times.map(|(_, newest)| newest.iso()),
            forgotten,
            compacted,
            expired,
            flagged: faded,
            without_vector,
            degraded: loci_proto::degraded::Degraded::default(),
        })
    }

    /// Counts by reading every memory of the database.
    pub(crate) fn stats_of_database(
        &self,
        group: Option<&str>,
        now: Timestamp,
    ) -> Result<StatsReply> {
        let settings = self.shared.settings();
        let set = &self.shared.sets().active.name;
        let counts = stats::count(&self.conn, group, set, now)?;
        let is_counted = |entry: &Entry| {
            (group.is_none() || entry.group.as_deref() == group)
                && entry.status == Status::Active
                && settings.decay.at(now, entry.kind, entry.anchor).get() < FADED_THRESHOLD
        };
        let mut flagged = 0;
        memories::entries(&self.conn, &ALL_SEQS, |entry| {
            flagged += u64::from(is_counted(&entry));
            Ok(())
        })?;
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
