//! Bytes on their way out, written as the other side takes them.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Bytes that may wait before the relay stops reading what would add to them.
const ROOM: usize = 256 * 1024;
/// Memory that an empty outbox may keep.
const KEPT: usize = 16 * 1024;

/// A bounded buffer: whoever fills it asks [`Outbox::has_room`] first, so it holds at most 256 KiB and one line more.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    written: usize,
}

impl Outbox {
    /// True while another line may be added.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes.len() - self.written < ROOM
    }

    /// True when everything was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds whole lines.
    pub fn push(&mut self, lines: &[u8]) {
        self.bytes.extend_from_slice(lines);
    }

    /// Writes as much as the other side takes at once. Cancelling loses nothing.
    ///
    /// # Errors
    /// Those of the writer.
    pub async fn write_some(&mut self, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let count = writer.write(&self.bytes[self.written..]).await?;
        if count == 0 && !self.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.written += count;
        if self.written == self.bytes.len() {
            self.written = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
        } else if self.written >= ROOM {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }
}
