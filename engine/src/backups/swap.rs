//! Puts a prepared database in the place of the present one: the present files or the new one are
//! there afterwards, never a part of both, also if the process is killed at any moment.
//!
//! The present files get a second name in the quarantine. Then a marker is written, from which the
//! next start completes what was interrupted. Not here: what the new database contains (`prepare`).

use crate::backups::manifest::{failed, sync_folder};
use crate::database_files::quarantine::Quarantine;
use crate::database_files::with_suffix;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::model::time::Timestamp;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder of a prepared database, next to the present one, begins with this.
const PREPARED: &str = ".restore-";
/// The marker of a replacement in progress: the name of the folder of the prepared database.
const MARKER: &str = "-restoring";
/// The marker before it is complete.
const NEW_MARKER: &str = "-restoring-new";
/// The file in a prepared folder that names the folder of the quarantine.
const KEPT: &str = "kept";
/// The files that belong to the present database and must not be beside another one.
const OWN_FILES: [&str; 4] = ["-wal", "-shm", "-journal", "-index"];
/// The files that come with the prepared database.
const PREPARED_FILES: [&str; 2] = ["-identity", "-sums"];

/// Returns how the names of the prepared folders of a database begin: others may be next to it.
fn prefix(database: &Path) -> String {
    format!("{PREPARED}{}-", database.file_name().unwrap_or_default().to_string_lossy())
}

/// Creates the folder in which a database is prepared.
///
/// # Errors
/// `File`.
pub(crate) fn new_folder(database: &Path) -> Result<PathBuf> {
    let name = format!("{}{}", prefix(database), uuid::Uuid::now_v7().simple());
    let folder = database.with_file_name(name);
    DirBuilder::new().mode(0o700).create(&folder).map_err(|error| failed(&folder, error))?;
    Ok(folder)
}

/// Replaces the present database by the one in a prepared folder, which has the same name there.
/// Returns the folder of the quarantine with the files as they were.
///
/// # Errors
/// `File`; before the marker is written the present database is unchanged, afterwards the next
/// start completes the replacement.
pub(crate) fn replace(
    database: &Path,
    prepared: &Path,
    now: Timestamp,
    report: &str,
) -> Result<PathBuf> {
    let quarantine = Quarantine::create(database, now, report)?;
    keep_present(database, prepared, &quarantine)?;
    failpoint!("before the marker of a replacement");
    write_marker(database, prepared)?;
    failpoint!("after the marker of a replacement");
    complete(database)?;
    Ok(quarantine.folder().to_path_buf())
}

/// Like [`replace`], but keeps nothing of the present database: the prepared one has all of it.
///
/// # Errors
/// As [`replace`].
#[cfg(feature = "encrypted")]
pub(crate) fn replace_without_copy(database: &Path, prepared: &Path) -> Result<()> {
    failpoint!("before the marker of a conversion");
    write_marker(database, prepared)?;
    failpoint!("after the marker of a conversion");
    complete(database)
}

/// Gives all present files a second name in the quarantine, whose name is written into the prepared
/// folder first: without a replacement they must not have two names.
fn keep_present(database: &Path, prepared: &Path, quarantine: &Quarantine) -> Result<()> {
    let name = quarantine.folder().file_name().unwrap_or_default();
    let note = prepared.join(KEPT);
    std::fs::write(&note, name.as_encoded_bytes()).map_err(|error| failed(&note, error))?;
    for suffix in [""].iter().chain(&OWN_FILES).chain(&PREPARED_FILES) {
        quarantine.keep_link(&with_suffix(database, suffix))?;
    }
    sync_folder(quarantine.folder())
}

/// Removes the second names of the present files that a replacement which did not happen has given
/// them: a change of the one would change the other.
fn remove_second_names(database: &Path, prepared: &Path) {
    let Ok(name) = std::fs::read_to_string(prepared.join(KEPT)) else { return };
    let inode =
        |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let folder = database.with_file_name("quarantine").join(&name);
    let kept = inode(&folder.join(database.file_name().unwrap_or_default()));
    if !name.is_empty() && !name.contains('/') && kept.is_some() && kept == inode(database) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn folder_of(database: &Path) -> &Path {
    database.parent().unwrap_or(Path::new("/"))
}

fn write_marker(database: &Path, prepared: &Path) -> Result<()> {
    let (marker, temporary) = (with_suffix(database, MARKER), with_suffix(database, NEW_MARKER));
    let name = prepared.file_name().unwrap_or_default().to_string_lossy();
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.custom_flags(libc::O_NOFOLLOW).open(&temporary)?;
        file.write_all(name.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, &marker)
    };
    write().map_err(|error| failed(&marker, error))?;
    sync_folder(folder_of(database))
}

/// Returns whether a replacement was interrupted, which the next start completes.
pub(crate) fn is_interrupted(database: &Path) -> bool {
    with_suffix(database, MARKER).exists()
}

/// Completes a replacement that was interrupted, and removes databases that were prepared and not
/// used. Does nothing if there is neither. The caller holds the lock of the database.
///
/// # Errors
/// `File`.
pub(crate) fn complete(database: &Path) -> Result<()> {
    let marker = with_suffix(database, MARKER);
    match std::fs::read_to_string(&marker) {
        Ok(name) => {
            let is_ours = name.starts_with(&prefix(database)) && !name.contains('/');
            if is_ours {
                move_into_place(database, &database.with_file_name(&name))?;
            }
            failpoint!("before the marker of a replacement is removed");
            std::fs::remove_file(&marker).map_err(|error| failed(&marker, error))?;
            sync_folder(folder_of(database))?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(&marker, error)),
    }
    let _ = std::fs::remove_file(with_suffix(database, NEW_MARKER));
    remove_prepared(database);
    Ok(())
}

/// Each step may have been done before.
fn move_into_place(database: &Path, prepared: &Path) -> Result<()> {
    let source = prepared.join(database.file_name().unwrap_or_default());
    if !source.exists() {
        return Ok(());
    }
    for suffix in OWN_FILES {
        let path = with_suffix(database, suffix);
        unless_missing(std::fs::remove_file(&path)).map_err(|error| failed(&path, error))?;
        failpoint!("after a file of the replaced store was removed");
    }
    // Otherwise a crash of the machine could bring the log of the present database back beside the
    // new one.
    sync_folder(folder_of(database))?;
    for suffix in PREPARED_FILES {
        let path = with_suffix(database, suffix);
        unless_missing(std::fs::rename(with_suffix(&source, suffix), &path))
            .map_err(|error| failed(&path, error))?;
        failpoint!("after a file of the prepared store was moved");
    }
    std::fs::rename(&source, database).map_err(|error| failed(database, error))?;
    sync_folder(folder_of(database))?;
    for suffix in ["-wal", "-shm"] {
        if with_suffix(database, suffix).exists() {
            let what = format!("{suffix} of another database is beside the restored one");
            return Err(Error::Damaged { path: database.to_path_buf(), what });
        }
    }
    Ok(())
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the folders of prepared databases. What cannot be removed does no harm.
fn remove_prepared(database: &Path) {
    let Ok(entries) = std::fs::read_dir(folder_of(database)) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix(database)) {
            remove_second_names(database, &entry.path());
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a present database with its files, and a prepared one.
    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().expect("the folder is created");
        let database = folder.path().join("memory.db");
        for suffix in ["", "-wal", "-shm", "-index", "-identity", "-sums"] {
            std::fs::write(with_suffix(&database, suffix), format!("old{suffix}"))
                .expect("the file is written");
        }
        let prepared = new_folder(&database).expect("the folder is created");
        for suffix in ["", "-identity", "-sums"] {
            let path = with_suffix(&prepared.join("memory.db"), suffix);
            std::fs::write(path, format!("new{suffix}")).expect("the file is written");
        }
        (folder, database, prepared)
    }

    /// Returns the files next to a database with their contents.
    fn state(database: &Path) -> Vec<String> {
        let files = ["", "-wal", "-shm", "-index", "-identity", "-sums", MARKER];
        files
            .iter()
            .filter_map(|suffix| std::fs::read_to_string(with_suffix(database, suffix)).ok())
            .collect()
    }

    #[test]
    fn a_replacement_keeps_all_files_and_leaves_no_log() {
        let (_folder, database, prepared) = folder();
        let kept = replace(&database, &prepared, Timestamp(0), "test").expect("it is replaced");
        assert_eq!(state(&database), ["new", "new-identity", "new-sums"]);
        let kept = kept.join("memory.db");
        assert_eq!(
            state(&kept),
            ["old", "old-wal", "old-shm", "old-index", "old-identity", "old-sums"]
        );
        assert!(!prepared.exists());
    }

    #[test]
    fn without_the_marker_the_present_database_stays_whole() {
        let (_folder, database, prepared) = folder();
        let before = state(&database);
        let quarantine =
            Quarantine::create(&database, Timestamp(0), "test").expect("the folder is created");
        keep_present(&database, &prepared, &quarantine).expect("the files are kept");
        assert!(quarantine.folder().join("memory.db").exists());
        complete(&database).expect("there is nothing to complete");
        assert_eq!(state(&database), before);
        assert!(!prepared.exists(), "the prepared copy is removed");
        assert!(!quarantine.folder().exists(), "no file has two names");
    }

    #[test]
    fn a_replacement_that_was_interrupted_anywhere_is_completed() {
        let remove = |path: PathBuf| std::fs::remove_file(path).expect("is removed");
        for interrupted_after in 0..6 {
            let (_folder, database, prepared) = folder();
            write_marker(&database, &prepared).expect("the marker is written");
            let source = prepared.join("memory.db");
            let move_new = |suffix: &str| {
                std::fs::rename(with_suffix(&source, suffix), with_suffix(&database, suffix))
                    .expect("is moved");
            };
            if interrupted_after > 0 {
                remove(with_suffix(&database, "-wal"));
            }
            if interrupted_after > 1 {
                remove(with_suffix(&database, "-shm"));
                remove(with_suffix(&database, "-index"));
            }
            if interrupted_after > 2 {
                move_new("-identity");
            }
            if interrupted_after > 3 {
                move_new("-sums");
            }
            if interrupted_after > 4 {
                move_new("");
            }
            complete(&database).expect("it is completed");
            assert_eq!(
                state(&database),
                ["new", "new-identity", "new-sums"],
                "interrupted after {interrupted_after}"
            );
            assert!(!prepared.exists());
        }
    }
}
