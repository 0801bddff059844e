//! `wander`: walks from memory to memory along associations, for a person who wants to be reminded.
//!
//! Without a memory to start from, the day decides: the walk of a day and project is always the same
//! while the store does not change. Not here: how associations are found (`search::associations`).

use crate::db::memories;
use crate::error::{Result, not_found};
use crate::handles::reader::Reader;
use crate::index::{Filter, QuantizedVector, Row, Statuses};
use crate::model::actor::Viewer;
use crate::model::time::{self, Timestamp};
use crate::model::visibility::Visibility;
use crate::operations::named_project::existing_group;
use crate::operations::recall::RecallContext;
use crate::operations::recall::associations::FoundAssociation;
use crate::operations::verbs::read_verb;
use crate::search::associations::{Associated, Source, Surroundings, associations};
use crate::search::budget;
use loci_proto::degraded::Degraded;
use loci_proto::error::Failure;
use loci_proto::requests::wander::{WanderReply, WanderRequest, WanderStart};
use std::collections::HashSet;

read_verb!(WanderRequest, |reader, request, call| reader.wander(
    request,
    (&call.actor).into(),
    call.now
));

/// Default steps of a walk.
const DEFAULT_STEPS: usize = 5;
/// Maximum steps of a walk.
const MAX_STEPS: usize = 20;
/// Memories of a day's choice that are tried before one without an association is taken.
const TRIED_STARTS: u64 = 32;

impl Reader {
    /// Walks along associations.
    ///
    /// # Errors
    /// `invalid` for `steps` and `date`; `not_found` for `start` and `group`; `busy` while the index is
    /// being loaded; `Database`.
    pub fn wander(
        &self,
        request: &WanderRequest,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<WanderReply> {
        let steps = request.steps.unwrap_or(DEFAULT_STEPS);
        if !(1..=MAX_STEPS).contains(&steps) {
            let message = format!("must be a whole number in 1..{MAX_STEPS}");
            return Err(Failure::invalid("steps", message).into());
        }
        let day = match &request.date {
            Some(text) => time::day_of(text, "date", now)?,
            None => now.day(),
        };
        self.shared.require_ready()?;
        let isolation = self.shared.isolation();
        let group = existing_group(&self.conn, &isolation, viewer, request.group.as_ref())?;
        let visibility = Visibility::of_group(&group.id, isolation);
        let filter = Filter { statuses: Statuses::Active, ..self.shared.filter(&visibility, now) };
        let index = self.shared.index();
        // A dormant memory can be named to start from; the walk itself comes to none.
        let path = index.mask(&filter);
        let dormant_below = self.shared.settings().dormant_threshold;
        let mask = index.mask(&Filter { dormant_below, ..filter });
        let around = Surroundings { index: &index, mask: &mask, path: &path, obvious: None };
        let start = match &request.start {
            Some(id) => {
                let memory = memories::by_id(&self.conn, id)?;
                let slot = memory.and_then(|memory| index.slot(memory.seq));
                let slot = slot.filter(|slot| path.admits(*slot));
                Some(slot.ok_or_else(|| not_found("start", id.as_str()))?)
            }
            None => start_of_day(around, &group.id, day),
        };
        let Some(start) = start else { return Ok(WanderReply::default()) };
        let start_seq = index.seq(start);
        let found = walk(around, start, steps);
        // No row is read while the index is locked.
        drop(index);
        let Some(memory) = memories::by_seq(&self.conn, start_seq)? else {
            return Ok(WanderReply::default());
        };
        let degraded = Degraded::default();
        let context = RecallContext {
            viewer,
            client: None,
            encoding: None,
            now,
            fusion: None,
            is_agent: false,
            names_project: false,
            files: None,
            rerank: None,
            degraded: &degraded,
        };
        let shown = self.shown_associations(found, context)?;
        let preview = budget::preview(&memory.content);
        let start = WanderStart { id: memory.id, preview };
        let steps = shown.into_iter().map(|(_, association)| association).collect();
        Ok(WanderReply { start: Some(start), steps })
    }
}

/// Follows the best association of each memory that was not visited.
fn walk(around: Surroundings<'_>, start: usize, steps: usize) -> Vec<FoundAssociation> {
    let obvious = around.index.vector(start, 0).map(Row::to_owned_vector);
    let (mut visited, mut at) = (HashSet::from([start]), start);
    let mut found = Vec::new();
    while found.len() < steps {
        let Some(next) = next_step(around, obvious.as_ref(), at, &visited) else { break };
        at = next.slot;
        visited.insert(at);
        found.push(FoundAssociation::new(around.index, next));
    }
    found
}

fn next_step(
    around: Surroundings<'_>,
    start: Option<&QuantizedVector>,
    at: usize,
    visited: &HashSet<usize>,
) -> Option<Associated> {
    // The first step is compared with its memory only: that the start resembles itself says nothing.
    let obvious = start.filter(|_| visited.len() > 1);
    let around = Surroundings { obvious, ..around };
    associations(around, &[Source { slot: at, share: 1.0 }], visited).into_iter().next()
}

/// Returns the memory that a day begins with: one of those with an association, if there is any among
/// the first tries.
fn start_of_day(around: Surroundings<'_>, group: &str, day: i32) -> Option<usize> {
    let slots: Vec<usize> = around.mask.slots().collect();
    let count = u64::try_from(slots.len()).ok().filter(|count| *count > 0)?;
    let choice = |attempt: u64| {
        let text = format!("{group} {day} {attempt}");
        let hash = blake3::hash(text.as_bytes());
        let number = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        usize::try_from(number % count).ok().map(|at| slots[at])
    };
    let leads_on = |slot: &usize| next_step(around, None, *slot, &HashSet::from([*slot])).is_some();
    (0..TRIED_STARTS).filter_map(choice).find(leads_on).or_else(|| choice(0))
}
