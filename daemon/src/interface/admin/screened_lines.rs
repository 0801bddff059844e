//! Writes the lines of an import into a file after each has passed the rules for secrets, so that a refused secret is never written.

use loci_engine::privacy::Policy;
use loci_engine::transfer::LineScreen;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::import::{ImportReply, MAX_NAMED};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

/// Size of the write buffer, in bytes.
const BUFFER: usize = 256 * 1024;
/// Written in place of a refused line, so that the numbers of the other lines stay; the import skips it.
const REFUSED: &[u8] = b"{\"kind\":\"refused\"}";

/// Returns the failure for an I/O error of the spooled file.
pub(super) fn spool_failure(error: &io::Error) -> Failure {
    let hint = "Nothing was imported; free some space and try again";
    Failure::new(Code::StorageFailed, format!("the file could not be spooled: {error}")).hint(hint)
}

/// A file of lines, and what was done to them.
#[derive(Debug)]
pub(crate) struct Spooled {
    pub file: File,
    /// Refused lines and the reasons.
    refused: BTreeMap<usize, Failure>,
    /// What was replaced, with the line.
    redacted: Vec<String>,
}

impl Spooled {
    /// Takes the file; what was done to its lines stays.
    pub fn into_parts(self) -> (File, SpoolReport) {
        (self.file, SpoolReport { refused: self.refused, redacted: self.redacted })
    }
}

/// What was refused and replaced in a file.
#[derive(Debug)]
pub(crate) struct SpoolReport {
    refused: BTreeMap<usize, Failure>,
    redacted: Vec<String>,
}

impl SpoolReport {
    /// Adds the reasons of refused lines, and what was replaced, to the report of the import.
    pub fn complete(mut self, mut reply: ImportReply) -> ImportReply {
        for skipped in &mut reply.skipped_lines {
            if let Some(failure) = self.refused.get(&skipped.line) {
                skipped.reason = failure.to_string();
            }
        }
        if self.redacted.len() > MAX_NAMED {
            let more = self.redacted.len() - MAX_NAMED;
            self.redacted.truncate(MAX_NAMED);
            self.redacted.push(format!("and {more} more"));
        }
        reply.redacted = self.redacted;
        reply
    }
}

/// Screens and writes lines.
pub(super) struct ScreenedLines<'a> {
    out: BufWriter<File>,
    screen: LineScreen<'a>,
    skip_bad: bool,
    line: Vec<u8>,
    number: usize,
    failure: Option<Failure>,
    refused: BTreeMap<usize, Failure>,
    redacted: Vec<String>,
}

impl<'a> ScreenedLines<'a> {
    pub fn new(file: File, policy: &'a Policy, skip_bad: bool) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, file),
            screen: LineScreen::new(policy),
            skip_bad,
            line: Vec::new(),
            number: 1,
            failure: None,
            refused: BTreeMap::new(),
            redacted: Vec::new(),
        }
    }

    /// Returns the refusal of a line, if that is why writing failed.
    pub fn failure_or(&mut self, failure: Failure) -> Failure {
        self.failure.take().unwrap_or(failure)
    }

    /// Writes the last line and returns the file, positioned at its beginning.
    ///
    /// # Errors
    /// The refusal of the last line; `storage_failed`.
    pub fn finish(mut self) -> Result<Spooled, Failure> {
        let written = self.write_line(b"");
        written.map_err(|error| self.failure_or(spool_failure(&error)))?;
        let mut file = self.out.into_inner().map_err(|e| spool_failure(e.error()))?;
        file.rewind().map_err(|e| spool_failure(&e))?;
        Ok(Spooled { file, refused: self.refused, redacted: self.redacted })
    }

    fn write_line(&mut self, end: &[u8]) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        match self.screen.screen(&line) {
            Ok((changed, redacted)) => {
                let number = self.number;
                self.redacted
                    .extend(redacted.iter().map(|found| format!("line {number}: {found}")));
                self.out.write_all(changed.as_deref().unwrap_or(&line))?;
            }
            Err(failure) if self.skip_bad => {
                self.refused.insert(self.number, failure);
                self.out.write_all(REFUSED)?;
            }
            Err(failure) => {
                let field = failure.field.clone().unwrap_or_default();
                let message = format!("{field} {}", failure.message);
                let hint =
                    "Nothing was imported; correct the line, or skip bad lines with --skip-bad";
                let failure = Failure { message, ..failure };
                self.failure = Some(failure.at(format!("line {}:", self.number)).hint(hint));
                return Err(io::Error::other("a line was refused"));
            }
        }
        self.out.write_all(end)?;
        self.number += 1;
        self.line = line;
        self.line.clear();
        Ok(())
    }
}

impl Write for ScreenedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            self.write_line(b"\n")?;
        }
        self.line.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
