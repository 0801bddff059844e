//! The part of a recall that shows memories linked to its results, which no search finds.
//!
//! They are those of the present, and pass the filters of the call. Not here: how they are found and
//! scored (`search::associations`), walks (`operations::wander`).

use crate::Reader;
use crate::db::memories::MemoryReader;
use crate::error::Result;
use crate::index::{Filter, Index, QuantizedVector, Statuses};
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::operations::recall::RecallContext;
use crate::operations::recall::hydrate::{Hit, by};
use crate::operations::recall::prepare::SearchText;
use crate::operations::recall::search::{Scope, mask, usable_encoding};
use crate::search::associations::{
    Associated, Link, MAX_SOURCES, Source, Surroundings, associations,
};
use crate::search::budget;
use loci_proto::requests::association::{Association, AssociationLink};
use serde_json::Value;
use std::collections::HashSet;

/// An association with the sequence numbers of the memory and of its result.
pub(crate) struct FoundAssociation {
    pub seq: i64,
    from: i64,
    link: Link,
    score: f64,
    /// With the link by time, the day of both.
    day: Option<i32>,
}

impl FoundAssociation {
    /// Converts slots to sequence numbers, so that it is valid without the index.
    pub(crate) fn new(index: &Index, found: Associated) -> Self {
        let is_by_time = found.link == Link::Time;
        Self {
            seq: index.seq(found.slot),
            from: index.seq(found.from),
            day: index.text_features(found.slot).day.filter(|_| is_by_time),
            link: found.link,
            score: found.score,
        }
    }
}

impl Reader {
    /// Returns the associations of results: of a search, or of memories shown by id (`text` is
    /// `None`). None while the index is being loaded.
    pub(super) fn associations(
        &self,
        scope: Scope<'_>,
        text: Option<&SearchText>,
        hits: &[Hit],
    ) -> Result<Vec<(i64, Association)>> {
        let Some(index) = self.shared.warm().filter(|_| scope.request.associations) else {
            return Ok(Vec::new());
        };
        let visible = Filter { statuses: Statuses::Active, ..self.all_visible(scope) };
        let path = index.mask(&visible);
        let admitted = text.map(|text| {
            let filter = Filter { statuses: Statuses::Active, ..self.filter(scope) };
            mask(&index, &filter, text, None, scope)
        });
        let encoding = usable_encoding(&index, scope.context.encoding)?;
        let query = encoding.map(|encoding| QuantizedVector::from(&encoding.vector));
        let around = Surroundings {
            index: &index,
            mask: admitted.as_ref().unwrap_or(&path),
            path: &path,
            obvious: query.as_ref(),
        };
        let excluded: HashSet<usize> =
            hits.iter().filter_map(|hit| index.slot(hit.memory.seq)).collect();
        let found: Vec<FoundAssociation> = associations(around, &sources(&index, hits), &excluded)
            .into_iter()
            .map(|found| FoundAssociation::new(&index, found))
            .collect();
        // No row is read while the index is locked.
        drop(index);
        self.shown_associations(found, scope.context)
    }

    /// Reads the rows of associations.
    pub(crate) fn shown_associations(
        &self,
        found: Vec<FoundAssociation>,
        context: RecallContext<'_>,
    ) -> Result<Vec<(i64, Association)>> {
        let mut memories = MemoryReader::new(&self.conn)?;
        let mut shown = Vec::with_capacity(found.len());
        for FoundAssociation { seq, from, link, score, day } in found {
            // A memory may have been deleted since the index was searched.
            let Some((memory, source)) = memories.get(seq)?.zip(memories.get(from)?) else {
                continue;
            };
            let why = match &link {
                Link::Graph(_) => AssociationLink::Graph,
                Link::Time => AssociationLink::Time,
                Link::Adjacent => AssociationLink::Adjacent,
            };
            let mut via = Vec::new();
            for entity in link.entities() {
                via.extend(memories.get(*entity)?.as_ref().map(entity_name));
            }
            let association = Association {
                preview: budget::preview(&memory.content),
                why,
                from: source.id,
                via,
                day: day.map(|day| Timestamp::start_of_day(day).date()),
                score: (score * 1e4).round() / 1e4,
                by: by(&memory.provenance, context.client),
                group: self.other_group(memory.group.as_deref(), context.viewer)?,
                flagged: memory.provenance.flags.names(),
                id: memory.id,
            };
            shown.push((seq, association));
        }
        Ok(shown)
    }
}

/// Returns the results from which associations start; those shown by id count the same.
fn sources(index: &Index, hits: &[Hit]) -> Vec<Source> {
    let best = hits.iter().filter_map(|hit| hit.score).fold(0.0, f64::max);
    let share = |hit: &Hit| match hit.score {
        Some(score) if best > 0.0 => score / best,
        Some(_) => 0.0,
        None => 1.0,
    };
    hits.iter()
        .filter_map(|hit| Some(Source { slot: index.slot(hit.memory.seq)?, share: share(hit) }))
        .take(MAX_SOURCES)
        .collect()
}

/// Returns the name of an entity, as it was stored.
fn entity_name(entity: &Memory) -> String {
    let name = entity.metadata.get("name").and_then(Value::as_str);
    name.map_or_else(|| budget::preview(&entity.content), budget::preview)
}
