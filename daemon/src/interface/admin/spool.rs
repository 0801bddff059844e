//! Spools an import into an unnamed temporary file and refuses it as soon as the file or a line is too large.
//!
//! Not here: receiving the bytes (`transfer`), what they mean (`engine::transfer`).

use crate::interface::admin::screened_lines::{ScreenedLines, Spooled, spool_failure};
use axum::body::Bytes;
use loci_engine::privacy::Policy;
use loci_engine::transfer;
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use loci_proto::requests::import::IMPORT_BYTES;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use tokio::sync::mpsc::Receiver;

/// Number of bytes from which the layout (document or lines) is detected; longer than any header.
const DETECTION_BYTES: usize = 4096;
/// Maximum size of a document, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 512 << 20;

/// Creates an unnamed file in a folder. The system removes it when its handle is closed, even if the daemon is killed.
fn unnamed_file(folder: &Path) -> Result<File, Failure> {
    tempfile::tempfile_in(folder).map_err(|e| spool_failure(&e))
}

/// Writes all chunks to a file; returns the file as lines, positioned at its beginning.
///
/// # Errors
/// `too_large` for the file or, unless `skip_bad`, a line; `storage_failed`.
pub(crate) fn spool(
    folder: &Path,
    mut chunks: Receiver<Bytes>,
    skip_bad: bool,
    policy: &Policy,
) -> Result<Spooled, Failure> {
    let mut beginning = Vec::new();
    while let Some(chunk) = chunks.blocking_recv() {
        beginning.extend_from_slice(&chunk);
        if beginning.len() >= DETECTION_BYTES || beginning.contains(&b'\n') {
            break;
        }
    }
    let is_document = transfer::is_document(&beginning);
    let mut limits = SizeLimits { is_document, skip_bad, total: 0, line: 1, length: 0 };
    let mut screened = ScreenedLines::new(unnamed_file(folder)?, policy, skip_bad);
    if !is_document {
        limits.write(&beginning, &mut screened).map_err(|failure| screened.failure_or(failure))?;
        while let Some(chunk) = chunks.blocking_recv() {
            limits.write(&chunk, &mut screened).map_err(|failure| screened.failure_or(failure))?;
        }
        return screened.finish();
    }
    let mut document = memory_file(folder)?;
    limits.write(&beginning, &mut document)?;
    while let Some(chunk) = chunks.blocking_recv() {
        limits.write(&chunk, &mut document)?;
    }
    document.rewind().map_err(|e| spool_failure(&e))?;
    transfer::document_to_lines(&mut document, &mut screened)
        .map_err(|error| screened.failure_or(error.into()))?;
    screened.finish()
}

/// Returns a file in memory: the text of a document is screened only when it was read as lines.
#[cfg(target_os = "linux")]
fn memory_file(_folder: &Path) -> Result<File, Failure> {
    let flags = nix::sys::memfd::MFdFlags::MFD_CLOEXEC;
    let memory = nix::sys::memfd::memfd_create("loci-import", flags);
    memory.map(File::from).map_err(|e| spool_failure(&e.into()))
}

/// Returns an unnamed file, where the system has no files in memory.
#[cfg(not(target_os = "linux"))]
fn memory_file(folder: &Path) -> Result<File, Failure> {
    unnamed_file(folder)
}

/// Writes the file and enforces the limits of its size and of the length of its lines.
struct SizeLimits {
    is_document: bool,
    skip_bad: bool,
    /// Bytes of the file so far.
    total: u64,
    /// Number of the current line, from 1.
    line: usize,
    /// Bytes of the current line so far.
    length: usize,
}

impl SizeLimits {
    fn write(&mut self, chunk: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        self.total += chunk.len() as u64;
        let max_bytes = if self.is_document { MAX_DOCUMENT_BYTES } else { IMPORT_BYTES };
        if self.total > max_bytes {
            let failure =
                Failure::new(Code::TooLarge, format!("the file has more than {max_bytes} bytes"));
            return Err(failure
                .hint("Nothing was imported; split the file, or use lines instead of a document"));
        }
        if self.is_document {
            return out.write_all(chunk).map_err(|e| spool_failure(&e));
        }
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            self.write_part(line, out)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { self.write_part(rest, out) }
    }

    /// Writes a part of one line. A line that is too long is cut one byte above the limit, so that the import still finds it too long.
    fn write_part(&mut self, part: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        let ends_line = part.last() == Some(&b'\n');
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
        out.write_all(kept).map_err(|e| spool_failure(&e))?;
        if ends_line {
            if kept.last() != Some(&b'\n') {
                out.write_all(b"\n").map_err(|e| spool_failure(&e))?;
            }
            (self.line, self.length) = (self.line + 1, 0);
        }
        Ok(())
    }
}
