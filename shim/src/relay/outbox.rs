//! A bounded buffer of outgoing bytes, written as fast as the other side reads.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Queued bytes at which the relay stops reading input that would add to them.
const BOUND: usize = 256 * 1024;
/// Bytes of capacity that an empty outbox keeps.
const IDLE_CAPACITY: usize = 16 * 1024;

/// Outgoing bytes. Callers check [`Outbox::has_room`] before they push, so it holds at most 256 KiB plus one line.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    written: usize,
}

impl Outbox {
    /// Returns true while another line may be pushed.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes.len() - self.written < BOUND
    }

    /// Returns true when everything is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends whole lines.
    pub fn push(&mut self, lines: &[u8]) {
        self.bytes.extend_from_slice(lines);
    }

    /// Writes as much as the writer accepts at once. Cancel safe.
    ///
    /// # Errors
    /// Write errors, and a writer that accepts nothing.
    pub async fn write_some(&mut self, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let count = writer.write(&self.bytes[self.written..]).await?;
        if count == 0 && !self.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.written += count;
        if self.written == self.bytes.len() {
            self.written = 0;
            self.bytes.clear();
            self.bytes.shrink_to(IDLE_CAPACITY);
        } else if self.written >= BOUND {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }
}
