//! Spools an import into an unnamed temporary file: bounded in size, and refused early if a line is too long.
//!
//! Not here: receiving the bytes (`transfer`), what they mean (`engine::transfer`).

use axum::body::Bytes;
use loci_engine::transfer::{self, is_document};
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use loci_proto::requests::import::IMPORT_BYTES;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use tokio::sync::mpsc::Receiver;

/// Bytes at the beginning that decide whether the file is a document or lines; more than a header has.
const DETECTION_BYTES: usize = 4096;
/// Size of the write buffer, in bytes.
const BUFFER: usize = 256 * 1024;
/// Maximum size of a document, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 512 << 20;

/// Creates an unnamed file in a folder: the system removes it with its handle, even if the daemon is killed.
fn unnamed_file(folder: &Path) -> Result<File, Failure> {
    tempfile::tempfile_in(folder).map_err(|e| not_written(&e))
}

/// Returns the failure of a file that could not be written.
fn not_written(error: &io::Error) -> Failure {
    let hint = "Nothing was imported; free some space and try again";
    Failure::new(Code::StorageFailed, format!("the file could not be spooled: {error}")).hint(hint)
}

/// Spools everything that is sent; returns the file as lines, positioned at its beginning.
///
/// # Errors
/// `too_large` for the file or, unless `skip_bad`, a line; `storage_failed`.
pub(crate) fn spool(
    folder: &Path,
    mut chunks: Receiver<Bytes>,
    skip_bad: bool,
) -> Result<File, Failure> {
    let mut out = BufWriter::with_capacity(BUFFER, unnamed_file(folder)?);
    let mut beginning = Vec::new();
    while let Some(chunk) = chunks.blocking_recv() {
        beginning.extend_from_slice(&chunk);
        if beginning.len() >= DETECTION_BYTES || beginning.contains(&b'\n') {
            break;
        }
    }
    let document = is_document(&beginning);
    let mut limits = SizeLimits { document, skip_bad, total: 0, line: 1, length: 0 };
    limits.write(&beginning, &mut out)?;
    while let Some(chunk) = chunks.blocking_recv() {
        limits.write(&chunk, &mut out)?;
    }
    let mut file = out.into_inner().map_err(|e| not_written(e.error()))?;
    file.rewind().map_err(|e| not_written(&e))?;
    if !document {
        return Ok(file);
    }
    let mut lines = document_to_lines(file, folder)?;
    lines.rewind().map_err(|e| not_written(&e))?;
    Ok(lines)
}

/// Writes the file and enforces its limits.
struct SizeLimits {
    document: bool,
    skip_bad: bool,
    total: u64,
    line: usize,
    length: usize,
}

impl SizeLimits {
    fn write(&mut self, chunk: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        self.total += chunk.len() as u64;
        let most = if self.document { MAX_DOCUMENT_BYTES } else { IMPORT_BYTES };
        if self.total > most {
            let failure =
                Failure::new(Code::TooLarge, format!("the file has more than {most} bytes"));
            return Err(failure
                .hint("Nothing was imported; split the file, or use lines instead of a document"));
        }
        if self.document {
            return out.write_all(chunk).map_err(|e| not_written(&e));
        }
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            self.write_part(line, out)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { self.write_part(rest, out) }
    }

    /// Writes a part of one line. A line that is too long is cut one byte above the limit, so that the reader finds it too long.
    fn write_part(&mut self, part: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        let ends = part.last() == Some(&b'\n');
        let remaining = (LINE_BYTES + 1).saturating_sub(self.length);
        let kept = &part[..part.len().min(remaining)];
        self.length += part.len();
        if self.length > LINE_BYTES && !self.skip_bad {
            let failure =
                Failure::new(Code::TooLarge, format!("is longer than {LINE_BYTES} bytes"))
                    .at(format!("line {}", self.line));
            return Err(
                failure.hint("Nothing was imported; use a file that loci export has written")
            );
        }
        out.write_all(kept).map_err(|e| not_written(&e))?;
        if ends {
            if kept.last() != Some(&b'\n') {
                out.write_all(b"\n").map_err(|e| not_written(&e))?;
            }
            (self.line, self.length) = (self.line + 1, 0);
        }
        Ok(())
    }
}

/// Converts a document to lines.
fn document_to_lines(document: File, folder: &Path) -> Result<File, Failure> {
    let mut lines = BufWriter::new(unnamed_file(folder)?);
    transfer::document_to_lines(&mut { document }, &mut lines)?;
    lines.into_inner().map_err(|e| not_written(e.error()))
}
