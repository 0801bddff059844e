//! A file that is sent, on its way to the writer: kept without a name, bounded, looked at as far as needed to tell early what is no export.

use crate::interface::admin::transfer::unfolded;
use axum::body::Bytes;
use loci_engine::transfer::is_document;
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use loci_proto::requests::import::IMPORT_BYTES;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use tokio::sync::mpsc::Receiver;

/// Bytes of the beginning that tell a document from lines: a header has far fewer.
const BEGINNING: usize = 4096;
/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;
/// Most bytes of a document.
const DOCUMENT_BYTES: u64 = 512 << 20;

/// A file without a name in a folder: it goes with its handle, whatever happens to the daemon.
pub(crate) fn file(folder: &Path) -> Result<File, Failure> {
    tempfile::tempfile_in(folder).map_err(|e| unwritten(&e))
}

/// Why a file could not be kept.
pub(crate) fn unwritten(error: &io::Error) -> Failure {
    let hint = "Nothing was imported; free some space and try again";
    Failure::new(Code::StorageFailed, format!("the file could not be kept on its way: {error}"))
        .hint(hint)
}

/// Takes everything that is sent; the file stands at its beginning, as lines.
pub(crate) fn take(
    folder: &Path,
    mut pieces: Receiver<Bytes>,
    skip_bad: bool,
) -> Result<File, Failure> {
    let mut out = BufWriter::with_capacity(BUFFER, file(folder)?);
    let mut beginning = Vec::new();
    while let Some(piece) = pieces.blocking_recv() {
        beginning.extend_from_slice(&piece);
        if beginning.len() >= BEGINNING || beginning.contains(&b'\n') {
            break;
        }
    }
    let document = is_document(&beginning);
    let mut bounds = Bounds { document, skip_bad, total: 0, line: 1, length: 0 };
    bounds.write(&beginning, &mut out)?;
    while let Some(piece) = pieces.blocking_recv() {
        bounds.write(&piece, &mut out)?;
    }
    let mut file = out.into_inner().map_err(|e| unwritten(e.error()))?;
    file.rewind().map_err(|e| unwritten(&e))?;
    if !document {
        return Ok(file);
    }
    let mut lines = unfolded(file, folder)?;
    lines.rewind().map_err(|e| unwritten(&e))?;
    Ok(lines)
}

/// What stops a file that has no end.
struct Bounds {
    document: bool,
    skip_bad: bool,
    total: u64,
    line: usize,
    length: usize,
}

impl Bounds {
    fn write(&mut self, piece: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        self.total += piece.len() as u64;
        let most = if self.document { DOCUMENT_BYTES } else { IMPORT_BYTES };
        if self.total > most {
            let failure =
                Failure::new(Code::TooLarge, format!("the file has more than {most} bytes"));
            return Err(failure.hint(
                "Nothing was imported; split the file, or take lines instead of a document",
            ));
        }
        if self.document {
            return out.write_all(piece).map_err(|e| unwritten(&e));
        }
        let mut rest = piece;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            self.part(line, out)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { self.part(rest, out) }
    }

    /// A part of one line. Of one that is too long, as much is kept as shows that it is.
    fn part(&mut self, part: &[u8], out: &mut impl Write) -> Result<(), Failure> {
        let ends = part.last() == Some(&b'\n');
        let room = (LINE_BYTES + 1).saturating_sub(self.length);
        let kept = &part[..part.len().min(room)];
        self.length += part.len();
        if self.length > LINE_BYTES && !self.skip_bad {
            let failure =
                Failure::new(Code::TooLarge, format!("is longer than {LINE_BYTES} bytes"))
                    .at(format!("line {}", self.line));
            return Err(
                failure.hint("Nothing was imported; give a file that loci export has written")
            );
        }
        out.write_all(kept).map_err(|e| unwritten(&e))?;
        if ends {
            if kept.last() != Some(&b'\n') {
                out.write_all(b"\n").map_err(|e| unwritten(&e))?;
            }
            (self.line, self.length) = (self.line + 1, 0);
        }
        Ok(())
    }
}
