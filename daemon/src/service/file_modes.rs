//! Whether the data folder and the files of the database are still private: their modes may be changed while the daemon runs.
//!
//! Not here: the check before the start, which refuses to serve (`process::startup`).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder or file that others may open.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenToOthers {
    /// Its path.
    pub path: PathBuf,
    /// The command that makes it private.
    pub remedy: String,
}

/// Returns the folders and files of the store that others than the owner may open.
#[must_use]
pub fn open_to_others(home: &Path, runtime: &Path, database: &Path) -> Vec<OpenToOthers> {
    let beside = |suffix: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let files = ["", "-wal", "-shm", "-index", "-identity", "-sums", "-reserve"].map(beside);
    let folders =
        [home.to_path_buf(), runtime.to_path_buf(), home.join("backups"), home.join("logs")];
    folders.into_iter().chain(files).filter_map(open_path).collect()
}

fn open_path(path: PathBuf) -> Option<OpenToOthers> {
    let metadata = std::fs::metadata(&path).ok()?;
    let mode_of_others = metadata.mode() & 0o077;
    if mode_of_others == 0 {
        return None;
    }
    let mode = if metadata.is_dir() { "700" } else { "600" };
    let remedy = format!("Run: chmod {mode} {}", path.display());
    Some(OpenToOthers { path, remedy })
}
