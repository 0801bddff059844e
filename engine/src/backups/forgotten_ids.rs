//! The ids of all hard-deleted memories, in a file next to the backups: `forgotten-ids`, one a line.
//!
//! A restore deletes these memories again, also if the database that has their tombstones is lost.
//! Lines are only added, and each is synced before the deletion is acknowledged. The file has no
//! texts. Not here: tombstones in the database (`db::tombstones`).

use crate::backups::mirrored;
use crate::error::Result;
use loci_proto::memory::MemoryId;
use std::collections::HashSet;
use std::path::Path;

/// The name of the file.
pub(crate) const NAME: &str = "forgotten-ids";

fn is_id(line: &str) -> bool {
    line.parse::<MemoryId>().is_ok()
}

/// Returns the ids. A line that was cut by a crash is ignored: its deletion was not acknowledged.
///
/// # Errors
/// `File` if there is a file and it cannot be read.
pub fn read(folder: &Path) -> Result<HashSet<MemoryId>> {
    let files = mirrored::read(folder, NAME, is_id)?;
    let lines = files.iter().flat_map(|file| &file.lines);
    Ok(lines.filter_map(|line| line.parse().ok()).collect())
}

/// Adds ids, on the disk before it returns.
///
/// # Errors
/// `File`.
pub(crate) fn append(folder: &Path, ids: &[MemoryId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = ids.iter().map(ToString::to_string).collect();
    mirrored::append(folder, NAME, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_added_and_a_line_that_was_cut_is_ignored() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let backups = folder.path().join("backups");
        assert!(read(&backups).expect("there is no file").is_empty());
        let id = || MemoryId::from(uuid::Uuid::now_v7());
        let (first, second) = (id(), id());
        append(&backups, std::slice::from_ref(&first)).expect("is written");
        let file = backups.join(NAME);
        let mut cut = std::fs::read(&file).expect("is read");
        cut.extend_from_slice(&second.as_str().as_bytes()[..20]);
        std::fs::write(&file, cut).expect("is cut");
        append(&backups, std::slice::from_ref(&second)).expect("is written");
        assert_eq!(read(&backups).expect("is read"), HashSet::from([first, second]));
    }
}
