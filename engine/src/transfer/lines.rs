//! Reading a file line by line, each within its bound. Not here: what a line says.

use crate::error::Result;
use loci_proto::error::{Code, Failure};
use loci_proto::transfer::LINE_BYTES;
use std::io::{self, BufRead};

/// A line as it was read: its number from 1, and its bytes or what is wrong with them.
pub(super) type Line = (usize, Result<Vec<u8>, Failure>);

/// The lines of a file.
pub(super) struct Lines<R> {
    reader: R,
    number: usize,
    /// Bytes of the last line: the next is likely to be as long.
    last: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, last: 0 }
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line>> {
        loop {
            self.number += 1;
            let mut line = Vec::with_capacity(self.last);
            let read = self.take(&mut line).map_err(unread)?;
            if read == 0 {
                return Ok(None);
            }
            self.last = line.len();
            if read > LINE_BYTES {
                let message = format!("is longer than {LINE_BYTES} bytes");
                return Ok(Some((self.number, Err(Failure::new(Code::TooLarge, message)))));
            }
            if self.number == 1 && line.starts_with("\u{FEFF}".as_bytes()) {
                line.drain(..3);
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((self.number, Ok(line))));
            }
        }
    }

    /// Takes one line up to its end, into memory as far as a line may be long; the bytes that were read.
    fn take(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        let mut read = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let end = memchr::memchr(b'\n', buffer);
            let used = end.map_or(buffer.len(), |at| at + 1);
            line.extend_from_slice(&buffer[..used.min(LINE_BYTES - line.len())]);
            self.reader.consume(used);
            read += used;
            if end.is_some() || used == 0 {
                return Ok(read);
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(super) fn unread(error: io::Error) -> crate::error::Error {
    Failure::new(Code::StorageFailed, format!("the file could not be read: {error}")).into()
}
