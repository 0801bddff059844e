//! Maintenance: old episodes become summaries, old summaries become summaries of a month and a
//! year, repeated episodes become facts, unused memories are cleaned up, forgotten ones are erased if
//! that is configured.
//!
//! **How a run works.** [`Reader::plan`] returns the due steps and changes nothing; `period`,
//! `topics`, `promote::star_clusters` and `summary` are pure. Each [`Step`] of the plan is one
//! transaction and one act of the journal: [`Writer::compact`] or [`Writer::promote`];
//! [`Writer::purge_forgotten`] is not undoable and in no journal. A step
//! checks each of its memories again, and is skipped if one has changed since the plan. Decay is
//! not part of a run: it is a function of time (`model::decay`). Not here: the schedule of runs and
//! the embedding model (both in the daemon).

mod agent_summary;
mod cleanup;
mod compact;
mod period;
mod plan;
mod promote;
mod purge;
mod quotes;
mod remove_quotes;
mod rules;
mod salience;
mod sources;
mod steps;
mod summary;
#[cfg(test)]
mod tests;
mod topics;

pub use agent_summary::summary_text;
pub use compact::Draft;
pub(crate) use period::PeriodKind;
pub(crate) use quotes::may_quote;
pub(crate) use remove_quotes::{remove_invalid_quotes, remove_quotes_of};
pub use rules::Rules;
pub use steps::{Cluster, Plan, Promotion, Purge, Step};
pub use summary::Sentence;
pub(crate) use summary::sentences;

use crate::db::{groups, health, memories};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::time::Timestamp;
use crate::search::budget;
use loci_proto::group::Group;
use loci_proto::memory::Origin;
use loci_proto::requests::maintenance::MaintenancePlan;

/// The state of maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaintenanceState {
    /// True if a person has paused it.
    pub paused: bool,
    /// The time when the last run completed.
    pub last_run: Option<Timestamp>,
}

/// Maximum texts of a planned step.
const MAX_TEXTS: usize = 5;

impl Reader {
    /// Converts a plan to its reply form, with the names of projects and the first lines of memories.
    ///
    /// # Errors
    /// `Database`.
    pub fn describe_plan(&self, plan: &Plan) -> Result<MaintenancePlan> {
        let mut reply = plan.to_reply();
        for step in &mut reply.steps {
            step.project = groups::name(&self.conn, &step.group)?;
            let members = step.members.iter().filter(|member| Some(*member) != step.from.as_ref());
            for id in step.from.iter().chain(members).take(MAX_TEXTS) {
                let memory = memories::by_id(&self.conn, id)?;
                step.texts.extend(memory.map(|memory| budget::preview_for_person(&memory.content)));
            }
        }
        Ok(reply)
    }

    /// Returns the state of maintenance.
    ///
    /// # Errors
    /// `Database`.
    pub fn maintenance_state(&self) -> Result<MaintenanceState> {
        Ok(MaintenanceState {
            paused: health::paused(&self.conn)?,
            last_run: health::last_run(&self.conn)?,
        })
    }
}

impl Writer {
    /// Pauses maintenance until it is resumed, or resumes it.
    ///
    /// # Errors
    /// `Database`.
    pub fn set_paused(&self, paused: bool) -> Result<()> {
        health::set_paused(&self.conn, paused)
    }

    /// Records that a run completed.
    ///
    /// # Errors
    /// `Database`.
    pub fn run_ended(&self, now: Timestamp) -> Result<()> {
        health::set_last_run(&self.conn, now)
    }
}

/// The actor of scheduled maintenance, in the project of the memories.
#[must_use]
pub fn actor(group: &str) -> Actor {
    Actor {
        client: Some("loci maintenance".to_owned()),
        session: None,
        origin: Origin::Maintenance,
        group: Group { id: group.to_owned(), name: group.to_owned() },
        checkout: None,
        is_bound: false,
    }
}
