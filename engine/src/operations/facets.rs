//! `facets`: counts the memories that a list selects, by type, project, client, trust, status and month.

use crate::db::listing;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::operations::inspect::group_name;
use crate::operations::list_filter::{Facet, Failed, ListFilter, day};
use crate::operations::verbs::read_verb;
use loci_proto::requests::facets::{FacetCount, FacetsReply, FacetsRequest};
use loci_proto::requests::list::ListRequest;
use std::collections::HashMap;

read_verb!(FacetsRequest, |reader, request, call| reader.facets(&request.0, &call.actor, call.now));

/// Length of a month in an ISO 8601 day, in bytes.
const MONTH_BYTES: usize = "2026-03".len();

/// Number of memories by the value of one facet.
#[derive(Default)]
struct Counts(HashMap<String, usize>);

impl Counts {
    fn add(&mut self, value: &str) {
        match self.0.get_mut(value) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(value.to_owned(), 1);
            }
        }
    }

    /// The most frequent value first; of equal counts in the order of the values.
    fn sorted(self) -> Vec<FacetCount> {
        let count = |(value, count)| FacetCount { value, name: None, count };
        let mut counts: Vec<_> = self.0.into_iter().map(count).collect();
        counts.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        counts
    }
}

impl Reader {
    /// Counts the memories that a list selects; each facet without its own filter.
    ///
    /// # Errors
    /// As [`Reader::list`].
    pub fn facets<'a>(
        &self,
        request: &ListRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<FacetsReply> {
        if let Some(text) = &request.as_of {
            let (past, at) = self.as_of(text, now)?;
            return past.facets(&ListRequest { as_of: None, ..request.clone() }, viewer, at);
        }
        let filter = ListFilter::new(self, request, viewer.into(), now)?;
        let mut total = 0;
        let [mut kinds, mut projects, mut clients, mut trusts, mut statuses, mut months] =
            std::array::from_fn(|_| Counts::default());
        listing::newest_first(&self.conn, |memory: Memory| {
            let failed = filter.failed(&memory);
            if failed == Failed::Others {
                return;
            }
            total += usize::from(failed == Failed::None);
            let counts = |facet| failed == Failed::None || failed == Failed::Only(facet);
            if counts(Facet::Kind) {
                kinds.add(memory.kind.as_str());
            }
            if counts(Facet::Project) {
                projects.add(memory.group.as_deref().unwrap_or_default());
            }
            if counts(Facet::Client) {
                clients.add(&memory.provenance.source().unwrap_or_default());
            }
            if counts(Facet::Trust) {
                trusts.add(memory.provenance.trust.as_str());
            }
            if counts(Facet::Status) {
                statuses.add(memory.status.as_str());
            }
            if counts(Facet::Time) {
                months.add(&Timestamp::start_of_day(day(&memory)).date()[..MONTH_BYTES]);
            }
        })?;
        let mut projects = projects.sorted();
        for project in &mut projects {
            project.name = group_name(&self.conn, Some(&project.value))?;
        }
        let mut months = months.sorted();
        months.sort_unstable_by(|a, b| b.value.cmp(&a.value));
        Ok(FacetsReply {
            total,
            kind: kinds.sorted(),
            project: projects,
            client: clients.sorted(),
            trust: trusts.sorted(),
            status: statuses.sorted(),
            month: months,
        })
    }
}
