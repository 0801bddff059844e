//! Reads lines of bounded length, with a deadline for each line that has begun.
//!
//! Not `tokio_util::codec::LinesCodec`: see docs/decisions.md. Not here: what a line means (`transport`).

use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Outcome of reading one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineOutcome {
    /// The buffer holds a line with its newline.
    Line,
    /// The buffer holds the beginning of a line that is longer than the limit; the rest is unread.
    TooLong,
    /// The stream has ended.
    End,
}

/// The limits of one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineLimits {
    /// Maximum length in bytes, newline included.
    pub(crate) max_bytes: usize,
    /// Maximum time for the peer to continue a line that it has begun. There is no limit between two lines.
    pub(crate) continue_within: Duration,
}

/// Reads the next line into `line`, which it clears first.
pub(crate) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limits: LineLimits,
) -> io::Result<LineOutcome> {
    line.clear();
    loop {
        let deadline = if line.is_empty() { Duration::MAX } else { limits.continue_within };
        let available =
            tokio::time::timeout(deadline, reader.fill_buf()).await.map_err(io::Error::from)??;
        if available.is_empty() {
            return Ok(LineOutcome::End);
        }
        let newline = memchr::memchr(b'\n', available);
        let length = newline.map_or(available.len(), |index| index + 1);
        if line.len() + length > limits.max_bytes {
            return Ok(LineOutcome::TooLong);
        }
        line.extend_from_slice(&available[..length]);
        reader.consume(length);
        if newline.is_some() {
            return Ok(LineOutcome::Line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, BufReader};

    const LIMITS: LineLimits =
        LineLimits { max_bytes: 8, continue_within: Duration::from_millis(20) };

    #[tokio::test]
    async fn a_line_of_maximum_length_is_read_and_a_longer_one_is_not() {
        let mut reader = BufReader::with_capacity(4, &b"1234567\n12345678\n"[..]);
        let mut line = Vec::new();
        let outcome = read_line(&mut reader, &mut line, LIMITS).await.expect("the line is read");
        assert_eq!((outcome, line.as_slice()), (LineOutcome::Line, &b"1234567\n"[..]));
        let outcome = read_line(&mut reader, &mut line, LIMITS).await.expect("the line is read");
        assert_eq!(outcome, LineOutcome::TooLong);
        assert!(b"12345678".starts_with(&line) && !line.is_empty(), "the beginning is kept");
    }

    #[tokio::test]
    async fn a_begun_line_must_be_continued_within_the_deadline() {
        let (mut peer, stream) = tokio::io::duplex(64);
        let mut reader = BufReader::new(stream);
        peer.write_all(b"12").await.expect("the peer writes");
        let error =
            read_line(&mut reader, &mut Vec::new(), LIMITS).await.expect_err("the deadline passes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(peer);
        let end = read_line(&mut reader, &mut Vec::new(), LIMITS).await.expect("the end is read");
        assert_eq!(end, LineOutcome::End);
    }
}
