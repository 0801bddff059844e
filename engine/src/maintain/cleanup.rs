//! Cleanup: what has faded and nobody uses is put aside when a person asks for it, and removed for good a month later.
//!
//! Pinned memories never go, and what was superseded or compacted is left alone. Not here: whether the clock is to be believed (the
//! daemon asks that first).

use crate::db::clusters;
use crate::db::memories::Memory;
use crate::error::Result;
use crate::model::time::{DAY, Timestamp, days};
use crate::operations::forget::{erase, put_aside};
use crate::search::budget;
use crate::transaction::change::CallContext;
use crate::{Reader, Shared, Writer};
use loci_proto::requests::cleanup::{CleanupCandidate, CleanupReply, CleanupRequest};
use rusqlite::Connection;

/// The reason that stands with what was cleaned up.
const REASON: &str = "cleanup";
/// How long a cleanup can be undone, in milliseconds.
const UNDOABLE: i64 = 30 * DAY;

impl Reader {
    /// What a cleanup would put aside.
    ///
    /// # Errors
    /// `Database`.
    pub fn faded(&self, now: Timestamp) -> Result<CleanupReply> {
        let found = candidates(&self.conn, &self.shared, now)?;
        Ok(CleanupReply {
            memories: found.iter().map(|memory| faded(&self.shared, memory, now)).collect(),
            at: now.0,
            act: None,
        })
    }
}

impl Writer {
    /// Puts aside what had faded at the moment of the list that was shown, and still has, as one act.
    ///
    /// # Errors
    /// `Database`.
    pub fn cleanup(
        &mut self,
        call: &CallContext,
        request: &CleanupRequest,
    ) -> Result<CleanupReply> {
        let at = request.at.map_or(call.now, |at| Timestamp(at).min(call.now));
        self.once(call, |change| {
            let found = candidates(change.conn, change.shared, at)?;
            for memory in &found {
                put_aside(change, memory, Some(REASON))?;
            }
            let memories = found.iter().map(|memory| faded(change.shared, memory, at)).collect();
            Ok(CleanupReply { memories, at: at.0, act: change.write_down("cleanup")? })
        })
    }

    /// Removes for good what a cleanup has put aside more than 30 days ago, at most so many memories; how many there were.
    ///
    /// # Errors
    /// `Database`.
    pub fn purge(&mut self, call: &CallContext, limit: usize) -> Result<usize> {
        let gone = self.once(call, |change| {
            let gone =
                clusters::forgotten_before(change.conn, REASON, call.now.plus(-UNDOABLE), limit)?;
            for memory in &gone {
                erase(change, memory)?;
            }
            Ok(gone.len())
        })?;
        if gone > 0 {
            self.leave_no_trace()?;
        }
        Ok(gone)
    }
}

fn candidates(conn: &Connection, shared: &Shared, now: Timestamp) -> Result<Vec<Memory>> {
    let settings = shared.settings();
    let rest = days(settings.rules.cleanup_no_access_days);
    let mut found = clusters::unused_since(conn, now.plus(-rest))?;
    found.retain(|memory| {
        settings.decay.at(now, memory.kind, memory.anchor).get()
            < settings.rules.cleanup_confidence_floor
    });
    Ok(found)
}

fn faded(shared: &Shared, memory: &Memory, now: Timestamp) -> CleanupCandidate {
    CleanupCandidate {
        id: memory.id.clone(),
        kind: memory.kind,
        confidence: shared.settings().decay.at(now, memory.kind, memory.anchor),
        used_at: memory.last_accessed.unwrap_or(memory.created_at).iso(),
        preview: budget::preview(&memory.content),
    }
}
