//! A bounded buffer of outgoing bytes, written as fast as the other side reads.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Queued bytes at which the relay stops reading input that would add to them.
const MAX_QUEUED_BYTES: usize = 256 * 1024;
/// Capacity in bytes to which an empty outbox shrinks.
const IDLE_CAPACITY: usize = 16 * 1024;

/// The outgoing bytes of one connection. Callers check [`Outbox::has_capacity`] before they push, so it contains at most 256 KiB plus one line.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    /// Number of bytes at the start of `bytes` that are already written.
    written: usize,
}

impl Outbox {
    /// Returns true while another line may be pushed.
    #[must_use]
    pub fn has_capacity(&self) -> bool {
        self.bytes.len() - self.written < MAX_QUEUED_BYTES
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
        } else if self.written >= MAX_QUEUED_BYTES {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }
}
