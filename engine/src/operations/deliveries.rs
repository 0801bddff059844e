//! The record of what hooks delivered: written in batches after the replies, read when a session is seen again.
//!
//! Not here: the receipts as people read them (`injected`), the buffer (the daemon).

use crate::db::hook_deliveries;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::hooks::receipt::{HookReceipt, TextVersion};
use crate::model::time::{DAY, Timestamp};
use loci_proto::admin::{HookClientStatus, HookStatus};

/// For how long receipts are kept, in milliseconds.
pub(crate) const RETENTION: i64 = 90 * DAY;
/// Maximum number of receipts.
const MAX_RECEIPTS: i64 = 20_000;
/// Maximum number of memories that are remembered as given to one session.
const MAX_GIVEN: usize = 1024;
/// Number of a client's last sessions that show whether it announces their start.
const RECENT_SESSIONS: i64 = 8;

/// What a session has been given already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenToSession {
    /// Row numbers, and what the memories said and still say.
    pub memories: Vec<(i64, TextVersion)>,
    /// It has been given the brief.
    pub brief: bool,
    /// It has been reminded to store.
    pub reminded: bool,
    /// Its start should have been announced: that was missed, or most sessions of the client announce theirs.
    pub start_is_due: bool,
}

impl Writer {
    /// Writes receipts and deletes old ones.
    ///
    /// # Errors
    /// `Database`; none is written then.
    pub fn record_receipts(&mut self, receipts: &[HookReceipt], now: Timestamp) -> Result<()> {
        self.change(|conn, _, _| {
            receipts.iter().try_for_each(|receipt| hook_deliveries::insert(conn, receipt))?;
            hook_deliveries::bound(conn, now.plus(-RETENTION), MAX_RECEIPTS)
        })
    }
}

impl Reader {
    /// Returns what a session has been given.
    ///
    /// # Errors
    /// `Database`.
    pub fn given_to_session(&self, client: &str, session: &str) -> Result<GivenToSession> {
        let given = hook_deliveries::given(&self.conn, session, MAX_GIVEN)?;
        let (sessions, started) =
            hook_deliveries::recent_starts(&self.conn, client, session, RECENT_SESSIONS)?;
        Ok(GivenToSession {
            memories: given.memories,
            brief: given.brief,
            reminded: given.reminded,
            start_is_due: given.missed_start || 2 * started > sessions,
        })
    }

    /// Returns the counts of each client.
    ///
    /// # Errors
    /// `Database`.
    pub fn hook_status(&self, now: Timestamp) -> Result<HookStatus> {
        let rows = hook_deliveries::clients(&self.conn, now.plus(-RETENTION))?;
        let clients: Vec<HookClientStatus> = rows
            .into_iter()
            .map(|row| HookClientStatus {
                client: row.client,
                last_event: row.last_event.map(Timestamp::iso),
                last_delivery: row.last_delivery.map(Timestamp::iso),
                delivered: row.delivered,
                missed: row.missed,
            })
            .collect();
        Ok(HookStatus { missed: clients.iter().map(|client| client.missed).sum(), clients })
    }
}
