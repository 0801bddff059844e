//! The record of a model whose files are not pinned: the SHA-256 of each file when it was installed, in `SHA256SUMS` beside them.
//!
//! The format is that of `sha256sum`, so `sha256sum --check SHA256SUMS` works. Not here: the download (`fetch`).

use crate::embedding::bounded_file::{self, MAX_TEXT};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// The file of the record.
pub const RECORD: &str = "SHA256SUMS";

/// The SHA-256 of each file by name, in hexadecimal.
pub type Record = BTreeMap<String, String>;

/// Reads the record of a folder; empty if there is none.
#[must_use]
pub fn read(folder: &Path) -> Record {
    let text = bounded_file::read_text(&folder.join(RECORD), MAX_TEXT).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    lines.map(|(sha256, name)| (name.to_owned(), sha256.to_owned())).collect()
}

/// Replaces the record of a folder.
///
/// # Errors
/// The system's.
pub fn write(folder: &Path, record: &Record) -> io::Result<()> {
    let mut part = tempfile::Builder::new().prefix(".sums-").tempfile_in(folder)?;
    for (name, sha256) in record {
        writeln!(part, "{sha256}  {name}")?;
    }
    part.as_file().sync_all()?;
    part.persist(folder.join(RECORD))?;
    Ok(())
}
