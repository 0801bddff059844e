//! What the daemon knows about the hooks of clients: the record of each session, receipts that are not written yet, missed events.
//!
//! Not here: what is delivered (`handlers::hook`, the engine).

pub mod following;
pub mod joining;
pub mod missed;
pub mod receipt_buffer;
pub mod receipts;
pub mod sessions;

use receipt_buffer::ReceiptBuffer;
use sessions::HookSessions;

/// The state of all hooks.
#[derive(Debug, Default)]
pub struct Hooks {
    /// The sessions of clients.
    pub sessions: HookSessions,
    /// Receipts that are not written yet.
    pub receipts: ReceiptBuffer,
}
