//! Accesses of recalls: each memory returned in full is counted, and its confidence and importance
//! rise, at most once an hour, and at most once a day for each session (the caller counts those).
//!
//! Written after the reply, in batches, so that no recall waits for the writer.

use crate::db::memories;
use crate::db::memories::Raised;
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::importance::Importance;
use crate::model::time::{HOUR, Timestamp};
use rusqlite::Connection;
use std::collections::HashMap;

/// Confidence added by an access.
const BOOST: f64 = 0.05;
/// Minimum time between two boosts of a memory, in milliseconds.
const COOLDOWN: i64 = HOUR;

/// The accesses of one memory since the last flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accesses {
    /// How often it was returned in full.
    pub times: u32,
    /// False if every access was by a session that had raised its confidence within a day.
    pub may_boost: bool,
}

impl Accesses {
    /// Accesses that may raise confidence.
    #[must_use]
    pub fn boosting(times: u32) -> Self {
        Self { times, may_boost: true }
    }
}

/// Whether an access raises confidence. Off while the clock is not trusted: a boost stores the
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boosting {
    /// Count and boost.
    On,
    /// Count only.
    Off,
}

impl Writer {
    /// Counts accesses: how often each memory (by sequence number) was returned in full.
    ///
    /// # Errors
    /// `Database`; the accesses are then not counted.
    pub fn touch(
        &mut self,
        accesses: &HashMap<i64, Accesses>,
        now: Timestamp,
        boosting: Boosting,
    ) -> Result<()> {
        self.change(|tx, shared, touched| {
            for (seq, Accesses { times, may_boost }) in accesses {
                let raised = if boosting == Boosting::On && *may_boost {
                    boost(tx, shared, *seq, now)?
                } else {
                    None
                };
                memories::touch(tx, *seq, *times, now, raised)?;
                touched.seqs.push(*seq);
            }
            Ok(())
        })
    }
}

/// Returns the raised confidence and importance; `None` if the memory does not exist, or was boosted less than
/// [`COOLDOWN`] ago.
fn boost(conn: &Connection, shared: &Shared, seq: i64, now: Timestamp) -> Result<Option<Raised>> {
    let may_boost = memories::boosted_at(conn, seq)?.is_none_or(|at| now.since(at) >= COOLDOWN);
    let Some(memory) = memories::by_seq(conn, seq)?.filter(|_| may_boost) else { return Ok(None) };
    let confidence = shared.settings().decay.at(now, memory.kind, memory.anchor).boosted(BOOST);
    let importance = memory.anchor.importance.unwrap_or(Importance::NEUTRAL).raised();
    Ok(Some(Raised { confidence, importance }))
}
