//! The lifecycle: old episodes become summaries, old summaries those of a month and a year, what is said again and again becomes a fact, what nobody uses is cleaned up.
//!
//! **How a run goes.** [`Reader::plan`] says what is to be done and changes nothing; what it decides is pure (`plan`, `span`,
//! `topics`, `promote::stars`, `summary`). Each [`Step`] of the plan is then one transaction and one act of the journal: [`Writer::compact`] or
//! [`Writer::promote`]. A step looks again at each of its memories, and is left out where one has changed since. Decay is no part of a
//! run: it is a function of time (`decay`). Not here: when a run is due, and the model (the daemon has both).

mod agent_summary;
mod cleanup;
mod compact;
mod period;
mod plan;
mod promote;
mod quotes;
mod remove_quotes;
mod summary;
#[cfg(test)]
mod tests;
mod topics;

pub use agent_summary::text_of;
pub use compact::Draft;
pub(crate) use period::Span;
pub use plan::{Cluster, Plan, Step};
pub use promote::Promotion;
pub(crate) use quotes::{hold_to_sources, may_quote};
pub(crate) use remove_quotes::unquote;
pub use summary::Sentence;
pub(crate) use summary::sentences;

use crate::db::health;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::time::Timestamp;
use loci_proto::group::Group;

/// When episodes are compacted, facts promoted, and memories cleaned up. The defaults are the specification's.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Episodes older than this are compacted.
    pub compaction_age_days: f64,
    /// Least episodes of a project and week.
    pub compaction_min_group_size: usize,
    /// Least episodes that say the same.
    pub promotion_threshold: usize,
    /// Above this cosine two episodes say the same.
    pub promotion_similarity: f64,
    /// Below this confidence a memory may be cleaned up.
    pub cleanup_confidence_floor: f64,
    /// Once it has not been used for this time.
    pub cleanup_no_access_days: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            compaction_age_days: 30.0,
            compaction_min_group_size: 5,
            promotion_threshold: 3,
            promotion_similarity: 0.88,
            cleanup_confidence_floor: 0.05,
            cleanup_no_access_days: 90.0,
        }
    }
}

/// How maintenance stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// A person has paused it.
    pub paused: bool,
    /// When the last run came to its end.
    pub last_run: Option<Timestamp>,
}

impl Reader {
    /// How maintenance stands.
    ///
    /// # Errors
    /// `Database`.
    pub fn standing(&self) -> Result<Standing> {
        Ok(Standing {
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

    /// Notes that a run has come to its end.
    ///
    /// # Errors
    /// `Database`.
    pub fn run_ended(&self, now: Timestamp) -> Result<()> {
        health::set_last_run(&self.conn, now)
    }
}

/// Who acts when nobody asked: maintenance itself, in the project of the memories.
#[must_use]
pub fn actor(group: &str) -> Actor {
    Actor {
        client: Some("loci maintenance".to_owned()),
        session: None,
        group: Group { id: group.to_owned(), name: group.to_owned() },
    }
}
