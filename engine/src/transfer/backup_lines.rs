//! A backup, or any other database file of loci, as the lines of an import: for a new machine, or to
//! bring back single memories. The file is not changed. The log and vectors are left out.

use crate::db::salvage::salvage;
use crate::error::Result;
use crate::transfer::{LineWriter, Record};
use loci_proto::error::{Code, Failure};
use std::io::Write;
use std::path::Path;

/// Writes the records of a database file.
///
/// # Errors
/// `invalid` if it is not a whole database of loci; `storage_failed` if writing fails.
pub fn backup_to_lines(path: &Path, sink: &mut dyn Write) -> Result<()> {
    let invalid = |reason: &str| {
        Failure::new(Code::Invalid, format!("{} {reason}", path.display()))
            .hint("An older or damaged backup is restored with loci backup restore")
    };
    let found = salvage(path).map_err(|error| invalid(&format!("cannot be read: {error}")))?;
    if let Some(unread) = found.unread.first() {
        return Err(invalid(&format!("cannot be read completely: {unread}")).into());
    }
    if !found.damaged.is_empty() {
        return Err(invalid(&format!("has {} damaged rows", found.damaged.len())).into());
    }
    let mut lines = LineWriter::begin(sink)?;
    for record in found.records {
        if !matches!(record, Record::Log(_)) {
            lines.write(&record)?;
        }
    }
    lines.finish()
}
