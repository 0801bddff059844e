//! What a recall leaves behind: each memory given in full is counted, and its confidence rises, at most once an hour.
//!
//! Written after the answer, in batches, so that no recall waits for the writer.

use crate::db::memories;
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::time::{HOUR, Timestamp};
use loci_proto::memory::Confidence;
use rusqlite::Connection;
use std::collections::HashMap;

/// What being used adds to a memory's confidence.
const BOOST: f64 = 0.05;
/// How long a memory waits for the next boost.
const COOLDOWN: i64 = HOUR;

/// Whether an access may raise confidence. A clock that is not to be believed must not set anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boosting {
    /// As usual.
    On,
    /// Accesses are only counted.
    Off,
}

impl Writer {
    /// Counts accesses: how often each memory (by sequence number) was given in full.
    ///
    /// # Errors
    /// `Database`; the accesses are then not counted.
    pub fn touch(
        &mut self,
        accesses: &HashMap<i64, u32>,
        now: Timestamp,
        boosting: Boosting,
    ) -> Result<()> {
        self.change(|tx, shared, touched| {
            for (seq, times) in accesses {
                let boosted =
                    if boosting == Boosting::On { boost(tx, shared, *seq, now)? } else { None };
                memories::touch(tx, *seq, *times, now, boosted)?;
                touched.seqs.push(*seq);
            }
            Ok(())
        })
    }
}

fn boost(
    conn: &Connection,
    shared: &Shared,
    seq: i64,
    now: Timestamp,
) -> Result<Option<Confidence>> {
    let rested = memories::boosted_at(conn, seq)?.is_none_or(|at| now.since(at) >= COOLDOWN);
    let Some(memory) = memories::by_seq(conn, seq)?.filter(|_| rested) else { return Ok(None) };
    Ok(Some(shared.settings().decay.at(now, memory.kind, memory.anchor).boosted(BOOST)))
}
