//! Cleanup: forgets decayed, unused memories when a person asks for it, and deletes them
//! permanently 30 days later.
//!
//! Does not forget pinned, superseded and compacted memories. Not here: the check that the clock is
//! trusted (the daemon's).

use crate::db::clusters;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::model::time::{DAY, Timestamp, days};
use crate::operations::forget::{erase, hide};
use crate::search::budget;
use crate::transaction::change::CallContext;
use loci_proto::requests::cleanup::{CleanupCandidate, CleanupReply, CleanupRequest};
use rusqlite::Connection;

/// The reason stored with memories that a cleanup forgot.
const REASON: &str = "cleanup";
/// How long a cleanup can be undone, in milliseconds.
const UNDO_PERIOD: i64 = 30 * DAY;

impl Reader {
    /// Returns the memories that a cleanup would forget.
    ///
    /// # Errors
    /// `Database`.
    pub fn faded(&self, now: Timestamp) -> Result<CleanupReply> {
        let candidates = candidates(&self.conn, &self.shared, now)?;
        Ok(CleanupReply {
            memories: candidates
                .iter()
                .map(|memory| to_candidate(&self.shared, memory, now))
                .collect(),
            at: now.0,
            act: None,
        })
    }
}

impl Writer {
    /// Forgets, as one act, the memories that were listed at the time `request.at` and have not
    /// been used since.
    ///
    /// # Errors
    /// `Database`.
    pub fn cleanup(
        &mut self,
        call: &CallContext,
        request: &CleanupRequest,
    ) -> Result<CleanupReply> {
        let at = request.at.map_or(call.now, |at| Timestamp(at).min(call.now));
        self.run_idempotent(call, |change| {
            let candidates = candidates(change.conn, change.shared, at)?;
            for memory in &candidates {
                hide(change, memory, Some(REASON))?;
            }
            let memories =
                candidates.iter().map(|memory| to_candidate(change.shared, memory, at)).collect();
            Ok(CleanupReply { memories, at: at.0, act: change.commit_to_journal("cleanup")? })
        })
    }

    /// Deletes permanently at most `limit` memories that a cleanup forgot more than 30 days ago;
    /// returns how many.
    ///
    /// # Errors
    /// `Database`.
    pub fn purge(&mut self, call: &CallContext, limit: usize) -> Result<usize> {
        let deleted = self.run_idempotent(call, |change| {
            let expired = clusters::forgotten_before(
                change.conn,
                REASON,
                call.now.plus(-UNDO_PERIOD),
                limit,
            )?;
            for memory in &expired {
                erase(change, memory)?;
            }
            Ok(expired.len())
        })?;
        if deleted > 0 {
            self.scrub()?;
        }
        Ok(deleted)
    }
}

fn candidates(conn: &Connection, shared: &Shared, now: Timestamp) -> Result<Vec<Memory>> {
    let settings = shared.settings();
    let unused_for = days(settings.rules.cleanup_no_access_days);
    let mut candidates = clusters::unused_since(conn, now.plus(-unused_for))?;
    candidates.retain(|memory| {
        settings.decay.at(now, memory.kind, memory.anchor).get()
            < settings.rules.cleanup_confidence_floor
    });
    Ok(candidates)
}

fn to_candidate(shared: &Shared, memory: &Memory, now: Timestamp) -> CleanupCandidate {
    CleanupCandidate {
        id: memory.id.clone(),
        kind: memory.kind,
        confidence: shared.settings().decay.at(now, memory.kind, memory.anchor),
        used_at: memory.last_accessed.unwrap_or(memory.created_at).iso(),
        preview: budget::preview(&memory.content),
    }
}
