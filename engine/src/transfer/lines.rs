//! Reading a file line by line, each within its bound. Not here: what a line says.

use crate::error::Result;
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use std::io::{self, BufRead};

/// A line as it was read: its number from 1, and its bytes or what is wrong with them.
pub(crate) type Line<'a> = (usize, Result<&'a mut [u8], Failure>);

/// The lines of a file.
pub(crate) struct Lines<R> {
    reader: R,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, number: 0, line: Vec::new() }
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.number += 1;
            let read = self.take().map_err(unread)?;
            if read == 0 {
                return Ok(None);
            }
            if read > LINE_BYTES {
                let message = format!("is longer than {LINE_BYTES} bytes");
                return Ok(Some((self.number, Err(Failure::new(Code::TooLarge, message)))));
            }
            if self.number == 1 && self.line.starts_with("\u{FEFF}".as_bytes()) {
                self.line.drain(..3);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((self.number, Ok(&mut self.line))));
            }
        }
    }

    /// Takes one line up to its end, and keeps as much of it as a line may have; the bytes that were read.
    fn take(&mut self) -> io::Result<usize> {
        self.line.clear();
        let mut read = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let end = memchr::memchr(b'\n', buffer);
            let used = end.map_or(buffer.len(), |at| at + 1);
            self.line.extend_from_slice(&buffer[..used.min(LINE_BYTES - self.line.len())]);
            self.reader.consume(used);
            read += used;
            if end.is_some() || used == 0 {
                return Ok(read);
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(crate) fn unread(error: io::Error) -> crate::error::Error {
    Failure::new(Code::StorageFailed, format!("the file could not be read: {error}")).into()
}
