//! Reads a file line by line, with a limit on the length of a line. Not here: parsing (`parse`).

use crate::error::Result;
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use std::io::{self, BufRead};

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// A line of a file.
pub(crate) struct NumberedLine<'a> {
    /// The line number, from 1.
    pub number: usize,
    /// The bytes of the line; an error if it is too long.
    pub bytes: Result<&'a mut [u8], Failure>,
}

/// Reads the lines of a file. Keeps at most one line of [`LINE_BYTES`] bytes in memory.
pub(crate) struct BoundedLineReader<R> {
    reader: R,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> BoundedLineReader<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, number: 0, line: Vec::new() }
    }

    /// Returns the next line that is not blank, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<NumberedLine<'_>>> {
        loop {
            self.number += 1;
            let number = self.number;
            let length = self.read_line().map_err(read_error)?;
            if length == 0 {
                return Ok(None);
            }
            if length > LINE_BYTES {
                let message = format!("is longer than {LINE_BYTES} bytes");
                let bytes = Err(Failure::new(Code::TooLarge, message));
                return Ok(Some(NumberedLine { number, bytes }));
            }
            if number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(NumberedLine { number, bytes: Ok(&mut self.line) }));
            }
        }
    }

    /// Consumes one line with its line ending and stores its first [`LINE_BYTES`] bytes. Returns
    /// the number of bytes consumed; 0 at the end of the file.
    fn read_line(&mut self) -> io::Result<usize> {
        self.line.clear();
        let mut consumed = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let end = memchr::memchr(b'\n', buffer);
            let used = end.map_or(buffer.len(), |at| at + 1);
            self.line.extend_from_slice(&buffer[..used.min(LINE_BYTES - self.line.len())]);
            self.reader.consume(used);
            consumed += used;
            if end.is_some() || used == 0 {
                return Ok(consumed);
            }
        }
    }
}

/// Returns the error for a file that cannot be read.
#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
pub(crate) fn read_error(error: io::Error) -> crate::error::Error {
    Failure::new(Code::StorageFailed, format!("the file could not be read: {error}")).into()
}
