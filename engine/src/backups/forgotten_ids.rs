//! The ids of all hard-deleted memories, in a file next to the backups: `forgotten-ids`, one a line.
//!
//! A restore deletes these memories again, also if the database that has their tombstones is lost.
//! Lines are only added, and each is synced before the deletion is acknowledged. The file has no
//! texts. Not here: tombstones in the database (`db::tombstones`).

use crate::backups::manifest::{failed, sync_folder};
use crate::backups::side_file;
use crate::error::Result;
use loci_proto::memory::MemoryId;
use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The name of the file.
const NAME: &str = "forgotten-ids";

fn path_in(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Returns the ids in the file. A line that is no id, such as one that was cut by a crash, is
/// ignored.
///
/// # Errors
/// `File` if there is a file and it cannot be read.
pub fn read(folder: &Path) -> Result<HashSet<MemoryId>> {
    let path = path_in(folder);
    let bytes = side_file::read(&path).map_err(|error| failed(&path, error))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

/// Adds ids, on the disk before it returns.
///
/// # Errors
/// `File`.
pub(crate) fn append(folder: &Path, ids: &[MemoryId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let path = path_in(folder);
    let is_new = !path.exists();
    let mut lines = String::from("\n");
    for id in ids {
        lines.push_str(id.as_str());
        lines.push('\n');
    }
    let write = || {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = side_file::append(&path)?;
        file.write_all(lines.as_bytes())?;
        file.sync_data()
    };
    write().map_err(|error| failed(&path, error))?;
    if is_new { sync_folder(folder) } else { Ok(()) }
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
        let file = path_in(&backups);
        let mut cut = std::fs::read(&file).expect("is read");
        cut.extend_from_slice(&second.as_str().as_bytes()[..20]);
        std::fs::write(&file, cut).expect("is cut");
        append(&backups, std::slice::from_ref(&second)).expect("is written");
        assert_eq!(read(&backups).expect("is read"), HashSet::from([first, second]));
    }
}
