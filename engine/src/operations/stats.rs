//! `stats`: counts of the store.

use crate::db::memories;
use crate::db::{ALL_SEQS, groups, stats};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::settings::DefaultScopes;
use crate::model::actor::Viewer;
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Isolation;
use crate::operations::inspect::FADED_THRESHOLD;
use crate::operations::visible_memory::named_group;
use loci_proto::memory::MemoryType;
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
                Some(named_group(&self.conn, &isolation, viewer, request.group.as_ref())?.id)
            }
            None => None,
        };
        let counted = counted_groups(&self.conn, &isolation, viewer, group.as_deref())?;
        let settings = self.shared.settings();
        let set = &self.shared.sets().active.name;
        let counts = stats::count(&self.conn, counted.as_deref(), set, now)?;
        let is_flagged = |entry: &Entry| {
            entry.status == Status::Active
                && settings.decay.at(now, entry.kind, entry.anchor).get() < FADED_THRESHOLD
        };
        let is_in_group = |entry: &Entry| {
            let group = entry.group.as_deref().unwrap_or_default();
            counted.as_ref().is_none_or(|groups| groups.iter().any(|counted| counted == group))
        };
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
        Ok(StatsReply {
            flagged,
            default_scopes: changed_scopes(settings.scopes),
            isolated: isolation.is_isolated(&viewer.group.id),
            ..counts
        })
    }

    /// Returns the number of active memories.
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
