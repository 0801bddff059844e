//! Splits a byte stream into lines of bounded length. A longer line is reduced to an excerpt.
//!
//! Relay, hello and demo use it. `tokio_util::codec::LinesCodec` discards the bytes of a too long line, and with them the id for the
//! error reply. Not here: parsing of lines.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes per read.
const READ_BYTES: usize = 8 * 1024;
/// Bytes kept from the start of a too long line.
const HEAD_BYTES: usize = 4 * 1024;
/// Bytes kept from the end of a too long line.
const TAIL_BYTES: usize = 512;

/// One line, without `\n` or `\r\n`.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// The whole line.
    Whole(Vec<u8>),
    /// The line exceeded the bound; its start and end.
    TooLong(Excerpt),
}

/// Start and end of a too long line: usually enough to find the request's id.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The first 4 KiB at most.
    pub head: Vec<u8>,
    /// The last 512 bytes at most.
    pub tail: Vec<u8>,
}

/// Reads a stream line by line.
#[derive(Debug)]
pub struct LineReader<R> {
    source: BufReader<R>,
    limit: usize,
    partial: Partial,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader for lines of at most `limit` bytes, newline included.
    pub fn new(source: R, limit: usize) -> Self {
        Self {
            source: BufReader::with_capacity(READ_BYTES, source),
            limit,
            partial: Partial::default(),
        }
    }

    /// Reads the next line that ends with a newline; `None` at the end of the stream. Cancel safe.
    ///
    /// # Errors
    /// Read errors of the stream.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.source.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = newline.map_or(chunk, |index| &chunk[..index]);
            self.partial.push(part, self.limit);
            let consumed = part.len() + usize::from(newline.is_some());
            self.source.consume(consumed);
            if newline.is_some() {
                return Ok(Some(self.partial.take()));
            }
        }
    }

    /// Returns the line after the last newline, if any; call it at the end of the stream.
    pub fn take_unterminated(&mut self) -> Option<Line> {
        (!self.partial.bytes.is_empty()).then(|| self.partial.take())
    }
}

/// A line whose newline has not been read yet.
#[derive(Debug, Default)]
struct Partial {
    /// The line so far, or the start of a too long one.
    bytes: Vec<u8>,
    /// The latest bytes of a too long line.
    tail: Option<Vec<u8>>,
}

impl Partial {
    fn push(&mut self, part: &[u8], limit: usize) {
        match &mut self.tail {
            None if self.bytes.len() + part.len() < limit => self.bytes.extend_from_slice(part),
            None => {
                let mut tail = Vec::with_capacity(2 * TAIL_BYTES);
                keep_last(&mut tail, &self.bytes);
                keep_last(&mut tail, part);
                self.tail = Some(tail);
                let head_part = HEAD_BYTES.saturating_sub(self.bytes.len()).min(part.len());
                self.bytes.extend_from_slice(&part[..head_part]);
                self.bytes.truncate(HEAD_BYTES);
                self.bytes.shrink_to_fit();
            }
            Some(tail) => keep_last(tail, part),
        }
    }

    fn take(&mut self) -> Line {
        let mut bytes = std::mem::take(&mut self.bytes);
        if let Some(tail) = self.tail.take() {
            return Line::TooLong(Excerpt { head: bytes, tail });
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Line::Whole(bytes)
    }
}

/// Appends `part` and keeps the last [`TAIL_BYTES`] bytes.
fn keep_last(tail: &mut Vec<u8>, part: &[u8]) {
    tail.extend_from_slice(&part[part.len().saturating_sub(TAIL_BYTES)..]);
    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(bytes: &[u8], limit: usize) -> Vec<Line> {
        let mut reader = LineReader::new(bytes, limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.expect("a slice can be read") {
            lines.push(line);
        }
        lines.extend(reader.take_unterminated());
        lines
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn newlines_and_carriage_returns_are_removed() {
        assert_eq!(
            read_all(b"one\ntwo\r\n\nlast", 64).await,
            [whole("one"), whole("two"), whole(""), whole("last")]
        );
    }

    #[tokio::test]
    async fn a_line_of_exactly_the_limit_is_whole_and_one_byte_more_is_too_long() {
        assert_eq!(read_all(b"1234567\n", 8).await, [whole("1234567")]);
        let over = Excerpt { head: b"12345678".to_vec(), tail: b"12345678".to_vec() };
        assert_eq!(read_all(b"12345678\nnext\n", 8).await, [Line::TooLong(over), whole("next")]);
    }

    #[tokio::test]
    async fn a_huge_line_is_reduced_to_its_start_and_end() {
        let mut huge = b"begin".to_vec();
        huge.resize(5_000_000, b'x');
        huge.extend_from_slice(b"end\nnext\n");
        let lines = read_all(&huge, 1024 * 1024).await;
        let Line::TooLong(Excerpt { head, tail }) = &lines[0] else {
            panic!("the first line must be too long")
        };
        assert!(head.len() == HEAD_BYTES && head.starts_with(b"begin"));
        assert!(tail.len() == TAIL_BYTES && tail.ends_with(b"xend"));
        assert_eq!(lines[1], whole("next"));
    }
}
