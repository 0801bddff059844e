//! Which backups may hold secrets that `scan --redact` has replaced since: the file `redactions` next
//! to the backups, one line for each redaction. A restore of such a backup replaces them again.
//!
//! The file has no texts. Not here: what a secret is (`privacy`).

use crate::backups::manifest::{self, Backup};
use crate::backups::mirrored;
use crate::error::Result;
use std::path::Path;

/// The name of the file.
pub(crate) const NAME: &str = "redactions";

/// One redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redaction {
    /// Backups up to this number existed before.
    number: u64,
    /// The last change before, of `database`: a backup that was being made then has no later one.
    last_change: i64,
    database: String,
}

impl Redaction {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (number, last_change) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { number, last_change, database: words.next()?.to_owned() })
    }

    fn is_after(&self, backup: &Backup) -> bool {
        backup.manifest.as_ref().is_none_or(|manifest| {
            let contents = &manifest.contents;
            manifest.number <= self.number
                || (contents.database == self.database && contents.last_change <= self.last_change)
        })
    }
}

/// Records that a redaction begins, on the disk before it returns. One that fails afterwards does no
/// harm: a restore then searches a backup that has no secrets.
///
/// # Errors
/// `File`.
pub(crate) fn record(folder: &Path, database: &str, last_change: i64) -> Result<()> {
    let numbers = manifest::list(folder).into_iter().filter_map(|backup| backup.manifest);
    let number = numbers.map(|manifest| manifest.number).max().unwrap_or(0);
    mirrored::append(folder, NAME, &[format!("{number} {last_change} {database}")])
}

/// Returns whether secrets were replaced since a backup was made.
///
/// # Errors
/// `File` if there is a file and it cannot be read.
pub(crate) fn is_needed(folder: &Path, backup: &Backup) -> Result<bool> {
    let files = mirrored::read(folder, NAME, |line| Redaction::parse(line).is_some())?;
    // What no file can tell any more may have been one.
    let is_unknown = !files.is_empty() && files.iter().all(|file| file.damaged > 0);
    let mut known = files.iter().flat_map(|file| &file.lines);
    Ok(is_unknown
        || known.any(|line| Redaction::parse(line).is_none_or(|found| found.is_after(backup))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::manifest::{Contents, Manifest};
    use crate::model::time::Timestamp;
    use std::path::PathBuf;

    fn backup(number: u64, last_change: i64) -> Backup {
        let contents = Contents { database: "d".to_owned(), last_change, ..Contents::default() };
        let manifest = Some(Manifest { number, contents, ..Manifest::default() });
        Backup { path: PathBuf::from("x"), bytes: 0, created_at: Timestamp(0), manifest }
    }

    #[test]
    fn a_backup_from_before_a_redaction_is_known_by_its_number_or_its_last_change() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let needed = |backup: &Backup| is_needed(folder.path(), backup).expect("is read");
        assert!(!needed(&backup(1, 1)), "there was no redaction");
        let made = folder.path().join("memory-1.db");
        std::fs::write(&made, "x").expect("is written");
        let manifest = backup(4, 9).manifest.expect("has one");
        manifest::write_manifest(&made, &manifest).expect("is written");
        record(folder.path(), "d", 20).expect("is recorded");
        assert!(needed(&backup(4, 90)), "it existed, whatever was restored in between");
        assert!(needed(&backup(5, 20)), "it was being made");
        assert!(!needed(&backup(5, 21)));
        assert!(needed(&Backup { manifest: None, ..backup(9, 99) }), "its age is not known");
    }
}
