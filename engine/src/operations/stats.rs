//! `stats`: counts of the store.
//!
//! The counts come from the index, which keeps them as bitmaps: reading every memory would cost in
//! proportion to the store. While the index is loaded, the database is counted. `doctor` compares
//! both (`doctor_counts`).

use crate::db::memories;
use crate::db::{ALL_SEQS, groups, stats};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::settings::DefaultScopes;
use crate::index::{ConfidenceBound, Counts};
use crate::model::actor::Viewer;
use crate::model::counts::MemoryCounts;
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Isolation;
use crate::operations::inspect::FADED_THRESHOLD;
use crate::operations::named_project::existing_group;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use loci_proto::requests::stats::{StatsReply, StatsRequest};
use rusqlite::Connection;
use std::collections::BTreeMap;

impl Reader {
    /// Counts the whole store, or the memories that one group stored.
    ///
    /// # Errors
    /// `Database`.
    pub fn stats<'a>(
        &self,
        request: &StatsRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<StatsReply> {
        let (viewer, isolation) = (viewer.into(), self.shared.isolation());
        let group = match &request.group {
            Some(_) => {
                Some(existing_group(&self.conn, &isolation, viewer, request.group.as_ref())?.id)
            }
            None => None,
        };
        let counted = counted_groups(&self.conn, &isolation, viewer, group.as_deref())?;
        let faded = ConfidenceBound {
            spares_pinned: false,
            minimum: Confidence::new(FADED_THRESHOLD).unwrap_or(Confidence::FULL),
            now,
            decay: self.shared.settings().decay,
        };
        let counted = counted.as_deref();
        // The index is not locked while the database is read.
        let counts = match self.shared.warm().map(|index| index.counts(counted, &faded)) {
            Some(counts) => self.stats_of(counts, counted)?,
            None => self.stats_of_database(counted, now)?,
        };
        Ok(StatsReply {
            default_scopes: changed_scopes(self.shared.settings().scopes),
            isolated: isolation.is_isolated(&viewer.group.id),
            ..counts
        })
    }

    fn stats_of(&self, counts: Counts, groups: Option<&[String]>) -> Result<StatsReply> {
        let (db_size_bytes, times) = stats::size_and_times(&self.conn, groups, counts.days)?;
        let Counts { memories, expired, faded, without_vector, relations, .. } = counts;
        let MemoryCounts { total, active, forgotten, compacted, candidates, rejected, .. } =
            memories;
        let MemoryCounts { by_type, by_scope, .. } = memories;
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
            candidates,
            rejected,
            expired,
            flagged: faded,
            without_vector,
            default_scopes: BTreeMap::new(),
            isolated: false,
            off: None,
            degraded: loci_proto::degraded::Degraded::default(),
        })
    }

    /// Counts by reading every memory of the database; `""` is no group.
    pub(crate) fn stats_of_database(
        &self,
        groups: Option<&[String]>,
        now: Timestamp,
    ) -> Result<StatsReply> {
        let settings = self.shared.settings();
        let set = &self.shared.sets().active.name;
        let counts = stats::count(&self.conn, groups, set, now)?;
        let is_in_group = |entry: &Entry| {
            let group = entry.group.as_deref().unwrap_or_default();
            groups.is_none_or(|groups| groups.iter().any(|counted| counted == group))
        };
        let is_faded = |entry: &Entry| {
            entry.status == Status::Active
                && settings.decay.at(now, entry.kind, entry.anchor).get() < FADED_THRESHOLD
        };
        let mut flagged = 0;
        memories::entries(&self.conn, &ALL_SEQS, |entry| {
            flagged += u64::from(is_in_group(&entry) && is_faded(&entry));
            Ok(())
        })?;
        Ok(StatsReply { flagged, ..counts })
    }

    /// Returns the number of active memories, but for those of isolated projects.
    ///
    /// # Errors
    /// `Database`.
    pub fn active(&self) -> Result<u64> {
        stats::active(&self.conn)
    }
}

/// Returns the groups whose memories are counted, `""` for no group; `None` for all. An isolated project counts only
/// its own memories and those stored outside any project; no other caller but a person counts its.
fn counted_groups(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    named: Option<&str>,
) -> Result<Option<Vec<String>>> {
    if let Some(group) = named {
        return Ok(Some(vec![group.to_owned()]));
    }
    if viewer.is_person() || isolation.is_empty() {
        return Ok(None);
    }
    let mut counted = vec![String::new()];
    for group in groups::names(conn)? {
        let may_count = if isolation.is_isolated(&viewer.group.id) {
            group.id == viewer.group.id || isolation.is_outside(Some(&group.id))
        } else {
            !isolation.is_isolated(&group.id)
        };
        counted.extend(may_count.then_some(group.id));
    }
    Ok(Some(counted))
}

/// Returns the default scope of each type, if one of them was changed.
fn changed_scopes(scopes: DefaultScopes) -> BTreeMap<String, String> {
    if scopes == DefaultScopes::default() {
        return BTreeMap::new();
    }
    let scope = |kind: &MemoryType| (kind.to_string(), scopes.of(*kind).to_string());
    MemoryType::ALL.iter().map(scope).collect()
}
